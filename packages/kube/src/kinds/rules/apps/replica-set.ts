import type { JsonObject } from "@keelson/base";

import { maybeObject, objectOf, writableObject } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showSelector } from "../label-selectors.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkNotAbove,
  checkSameMeaning,
  dropFromTemplate,
  podNameWarnings,
} from "../workloads.ts";
import { checkRequiredSelector, checkSelectedTemplate } from "./deployment.ts";

export const replicaSetRules: KindRules = {
  prepareForCreate: (set) => {
    const spec = writableObject(set, "spec");
    if (spec !== undefined) dropFromTemplate(spec, undefined);
  },
  prepareForUpdate: (set, old) => {
    const spec = writableObject(set, "spec");
    if (spec !== undefined) dropFromTemplate(spec, objectOf(old, "spec"));
  },
  validate: (set) => validateSpec(set, undefined).errors,
  validateUpdate: (set, old) => {
    const at = validateSpec(set, old);
    const selector = maybeObject(objectOf(set, "spec"), "selector");
    const before = maybeObject(objectOf(old, "spec"), "selector");
    checkSameMeaning(selector, before, at.child("selector"), () => showSelector(selector));
    return at.errors;
  },
  validateStatusUpdate: (set) => {
    const at = Place.root("status");
    checkReplicaStatus(objectOf(set, "status"), at);
    return at.errors;
  },
  warnings: (set, old) => {
    const template = objectOf(objectOf(set, "spec"), "template");
    if (old === undefined) {
      return [
        ...podNameWarnings(set, "Pod names and hostnames"),
        ...templateWarnings(template, "spec.template"),
      ];
    }
    const isSame = semanticEqual(objectOf(set, "spec"), objectOf(old, "spec"));
    return isSame ? [] : templateWarnings(template, "spec.template");
  },
};

/** The status of what keeps a number of Pods. */
export function checkReplicaStatus(status: JsonObject, at: Place): void {
  checkNotNegative(status, at, [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ]);
  checkNotAbove(status, at, [
    ["fullyLabeledReplicas", "replicas"],
    ["readyReplicas", "replicas"],
    ["availableReplicas", "replicas"],
    ["availableReplicas", "readyReplicas", "readyReplicas"],
  ]);
}

function validateSpec(set: JsonObject, old: JsonObject | undefined): Place {
  const at = Place.root("spec");
  const spec = objectOf(set, "spec");
  checkNotNegative(spec, at, ["replicas", "minReadySeconds"]);
  checkRequiredSelector(spec, at, { emptyDetail: "empty selector is invalid for deployment" });
  checkSelectedTemplate(spec, at, { old });
  return at;
}
