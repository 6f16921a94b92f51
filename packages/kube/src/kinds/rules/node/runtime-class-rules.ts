// The rules of RuntimeClasses.

import type { JsonObject } from "@keelson/base";

import { printShape } from "../../../go-text/struct-text.ts";
import { maybeObject, objectOf, objectsOf, textOf } from "../../../object/members.ts";
import { dnsLabelProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { deprecatedLabel } from "../core/node-labels.ts";
import { strictOptions } from "../core/pod/pod-options.ts";
import { checkResources } from "../core/pod/resources.ts";
import { checkTolerations, tolerationShape } from "../core/pod/tolerations.ts";
import { checkLabels } from "../label-selectors.ts";
import { checkImmutable } from "../meta/checks.ts";
import { Place } from "../place.ts";

export const runtimeClass: KindRules = {
  takesBareFinalizers: true,
  validate: classErrors,
  validateUpdate: (object, old) => {
    const errors = classErrors(object);
    const at = Place.root("handler", errors);
    checkImmutable(textOf(object, "handler"), textOf(old, "handler"), at);
    return errors;
  },
  warnings: (object) =>
    Object.keys(objectOf(objectOf(object, "scheduling"), "nodeSelector")).flatMap((label) => {
      const said = deprecatedLabel(label);
      return said === undefined ? [] : [`scheduling.nodeSelector: ${said}`];
    }),
};

function classErrors(object: JsonObject): FieldError[] {
  const at = Place.root("handler");
  const handler = textOf(object, "handler");
  if (handler === "") at.required();
  else at.invalidEach(handler, dnsLabelProblems(handler));
  const overhead = maybeObject(object, "overhead");
  if (overhead !== undefined) {
    const limits = { limits: objectOf(overhead, "podFixed") };
    const options = { options: strictOptions, claims: new Set<string>() };
    checkResources(limits, Place.root("overhead", at.errors), options);
  }
  const scheduling = maybeObject(object, "scheduling");
  if (scheduling !== undefined) checkScheduling(scheduling, Place.root("scheduling", at.errors));
  return at.errors;
}

function checkScheduling(scheduling: JsonObject, at: Place): void {
  checkLabels(objectOf(scheduling, "nodeSelector"), at.child("nodeSelector"));
  const tolerations = objectsOf(scheduling, "tolerations");
  const place = at.child("tolerations");
  checkTolerations(tolerations, place, strictOptions);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const key = ["key", "operator", "value", "effect"]
      .map((name) => JSON.stringify(textOf(toleration, name)))
      .join();
    if (seen.has(key)) {
      place.item(index).duplicateShown(printShape(tolerationShape, toleration));
    }
    seen.add(key);
  }
}
