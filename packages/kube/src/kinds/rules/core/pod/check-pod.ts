// The part of a Pod's rules that is asked on creation and on every change.

import type { JsonObject } from "@keelson/base";

import { has, objectOf, objectsOf, textOf } from "../../../../object/members.ts";
import { Place } from "../../place.ts";
import { checkPodAnnotations } from "./annotations.ts";
import { checkImageSpaces } from "./container.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkPodSpec } from "./pod-spec.ts";

/** Reports what is wrong with annotations and spec. */
export function checkPod(pod: JsonObject, at: Place, options: PodRuleOptions): void {
  const metadata = objectOf(pod, "metadata");
  const spec = objectOf(pod, "spec");
  const annotations = Place.root("metadata", at.errors).child("annotations");
  checkPodAnnotations(objectOf(metadata, "annotations"), annotations, { spec, options });
  checkPodSpec(spec, at, { options, metadata });
  if (textOf(spec, "serviceAccountName") === "") checkNoTokens(spec, at.child("volumes"));
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of objectsOf(spec, list).entries()) {
      checkImageSpaces(container, at.child(list).item(index));
    }
  }
}

function checkNoTokens(spec: JsonObject, at: Place): void {
  for (const [index, volume] of objectsOf(spec, "volumes").entries()) {
    const sources = objectsOf(objectOf(volume, "projected"), "sources");
    for (const [position, source] of sources.entries()) {
      if (!has(source, "serviceAccountToken")) continue;
      at.item(index)
        .child("projected")
        .child("sources")
        .item(position)
        .child("serviceAccountToken")
        .forbidden("must not be specified when serviceAccountName is not set");
    }
  }
}
