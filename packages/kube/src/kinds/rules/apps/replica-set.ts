import type { JsonObject } from "@keelson/base";

import { maybeObject, objectOf, writableObject } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showSelector } from "../label-selectors.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkReplicaStatus,
  checkSameMeaning,
  dropFromTemplate,
  podNameWarnings,
  templateOf,
} from "../workloads.ts";
import { checkRequiredSelector, checkSelectedTemplate } from "./selected-template.ts";

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
    const template = templateOf(set);
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

function validateSpec(set: JsonObject, old: JsonObject | undefined): Place {
  const at = Place.root("spec");
  const spec = objectOf(set, "spec");
  checkNotNegative(spec, at, ["replicas", "minReadySeconds"]);
  checkRequiredSelector(spec, at, { emptyDetail: "empty selector is invalid for deployment" });
  checkSelectedTemplate(spec, at, { old });
  return at;
}
