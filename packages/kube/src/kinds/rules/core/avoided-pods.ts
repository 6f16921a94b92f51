// Whose Pods should avoid a Node, as an annotation says it.

import { flagOf, maybeObject, objectOf, objectsOf } from "../../../object/members.ts";
import { readAnnotatedObject } from "../annotated-json.ts";
import type { Place } from "../place.ts";

export const avoidedPodsKey = "scheduler.alpha.kubernetes.io/preferAvoidPods";

const owner = {
  name: "v1.OwnerReference",
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "types.UID",
    controller: "bool",
    blockOwnerDeletion: "bool",
  },
};
const entry = {
  name: "v1.PreferAvoidPodsEntry",
  fields: {
    podSignature: { name: "v1.PodSignature", fields: { podController: owner } },
    evictionTime: "time",
    reason: "string",
    message: "string",
  },
};
const avoidedPods = { name: "v1.AvoidPods", fields: { preferAvoidPods: { itemsOf: entry } } };

/** Reports what is wrong with the annotation's text; an empty one says nothing. */
export function checkAvoidedPods(text: string, at: Place): void {
  if (text === "") return;
  const avoided = readAnnotatedObject(text, avoidedPods);
  if (typeof avoided === "string") {
    at.child("AvoidPods").invalid(avoidedPodsKey, avoided);
    return;
  }
  for (const [index, one] of objectsOf(avoided, "preferAvoidPods").entries()) {
    const place = at.child(avoidedPodsKey).item(index).child("PodSignature");
    const controller = maybeObject(objectOf(one, "podSignature"), "podController");
    if (controller === undefined) place.required();
    else if (!flagOf(controller, "controller")) {
      // Where it says neither, Kubernetes panics.
      place.child("PodController").child("Controller").invalid(false, "must point to a controller");
    }
  }
}
