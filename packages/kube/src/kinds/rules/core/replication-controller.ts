import type { JsonObject } from "@keelson/base";

import {
  has,
  maybeObject,
  maybeText,
  objectOf,
  textOf,
  writableObject,
} from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkReplicaStatus,
  checkRunsForever,
  dropFromTemplate,
  podNameWarnings,
  templateOf,
} from "../workloads.ts";
import { checkPodTemplate, templateOptions } from "./pod/pod-template.ts";
import { templateWarnings } from "./pod/pod-warnings.ts";

export const replicationControllerRules: KindRules = {
  prepareForCreate: (controller) => {
    const spec = writableObject(controller, "spec");
    if (spec !== undefined) dropFromTemplate(spec, undefined);
  },
  prepareForUpdate: (controller, old) => {
    const spec = writableObject(controller, "spec");
    if (spec !== undefined) dropFromTemplate(spec, objectOf(old, "spec"));
  },
  validate: (controller) => validateSpec(controller, undefined),
  validateUpdate: (controller, old) => validateSpec(controller, old),
  validateStatusUpdate: (controller) => {
    const at = Place.root("status");
    checkReplicaStatus(objectOf(controller, "status"), at);
    return at.errors;
  },
  warnings: (controller, old) => {
    if (old === undefined) {
      return [
        ...podNameWarnings(controller, "Pod names and hostnames"),
        ...templateWarnings(templateOf(controller), "spec.template"),
      ];
    }
    // The real server speaks of the old template here.
    const isSame = semanticEqual(objectOf(controller, "spec"), objectOf(old, "spec"));
    return isSame ? [] : templateWarnings(templateOf(old), "spec.template");
  },
};

function validateSpec(controller: JsonObject, old: JsonObject | undefined): Place["errors"] {
  const at = Place.root("spec");
  const spec = objectOf(controller, "spec");
  const selector = objectOf(spec, "selector");
  checkNotNegative(spec, at, ["minReadySeconds"]);
  if (Object.keys(selector).length === 0) at.child("selector").required();
  if (!has(spec, "replicas")) at.child("replicas").required();
  else checkNotNegative(spec, at, ["replicas"]);
  const template = maybeObject(spec, "template");
  const place = at.child("template");
  if (template === undefined) {
    place.required();
    return at.errors;
  }
  // The values of this selector are not judged, only compared.
  const labels = maybeObject(objectOf(template, "metadata"), "labels");
  const isChosen = Object.keys(selector).every(
    (key) => maybeText(labels ?? {}, key) === textOf(selector, key),
  );
  if (!isChosen) {
    place
      .child("metadata")
      .child("labels")
      .invalid(labels ?? null, "`selector` does not match template `labels`");
  }
  checkPodTemplate(
    template,
    place,
    templateOptions(old && maybeObject(objectOf(old, "spec"), "template")),
  );
  checkRunsForever(template, place, "ReplicationController");
  return at.errors;
}
