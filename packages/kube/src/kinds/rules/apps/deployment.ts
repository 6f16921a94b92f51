import type { JsonObject } from "@keelson/base";

import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  numberOf,
  objectOf,
  textOf,
  writableObject,
} from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showInternal } from "../internal-form.ts";
import { showSelector } from "../label-selectors.ts";
import { checkIntOrPercent, checkNotMoreThanAll, intOrPercent } from "../int-or-percent.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkCollisions,
  checkNotAbove,
  checkSameMeaning,
  dropFromTemplate,
  podNameWarnings,
  templateOf,
} from "../workloads.ts";
import { checkRequiredSelector, checkSelectedTemplate } from "./selected-template.ts";

export const deploymentRules: KindRules = {
  prepareForCreate: (deployment) => {
    const spec = writableObject(deployment, "spec");
    if (spec !== undefined) dropFromTemplate(spec, undefined);
  },
  prepareForUpdate: (deployment, old) => {
    const spec = writableObject(deployment, "spec");
    if (spec !== undefined) dropFromTemplate(spec, objectOf(old, "spec"));
  },
  validate: (deployment) => validateSpec(deployment, undefined).errors,
  validateUpdate: (deployment, old) => {
    const at = validateSpec(deployment, old);
    const selectorOf = (object: JsonObject): JsonObject | undefined =>
      maybeObject(objectOf(object, "spec"), "selector");
    checkSameMeaning(selectorOf(deployment), selectorOf(old), at.child("selector"), () =>
      showSelector(selectorOf(deployment)),
    );
    return at.errors;
  },
  validateStatusUpdate: (deployment, old) => {
    const at = Place.root("status");
    const status = objectOf(deployment, "status");
    checkNotNegative(status, at, [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "terminatingReplicas",
      "collisionCount",
    ]);
    checkNotAbove(status, at, [
      ["updatedReplicas", "replicas"],
      ["readyReplicas", "replicas"],
      ["availableReplicas", "replicas"],
      ["availableReplicas", "readyReplicas", "readyReplicas"],
    ]);
    checkCollisions(status, objectOf(old, "status"), at);
    return at.errors;
  },
  warnings: (deployment, old) => {
    const template = templateOf(deployment);
    if (old === undefined) {
      return [
        ...podNameWarnings(deployment, "Pod names and hostnames"),
        ...templateWarnings(template, "spec.template"),
      ];
    }
    const isChanged =
      !semanticEqual(objectOf(deployment, "spec"), objectOf(old, "spec")) ||
      !semanticEqual(annotationsOf(deployment), annotationsOf(old));
    return isChanged ? templateWarnings(template, "spec.template") : [];
  },
};

function validateSpec(deployment: JsonObject, old: JsonObject | undefined): Place {
  const at = Place.root("spec");
  const spec = objectOf(deployment, "spec");
  checkNotNegative(spec, at, ["replicas"]);
  checkRequiredSelector(spec, at, { emptyDetail: "empty selector is invalid for deployment" });
  checkSelectedTemplate(spec, at, { old });
  checkStrategy(objectOf(spec, "strategy"), at.child("strategy"));
  checkNotNegative(spec, at, ["minReadySeconds", "revisionHistoryLimit"]);
  const deadline = maybeNumber(spec, "progressDeadlineSeconds");
  if (deadline === undefined) return at;
  checkNotNegative(spec, at, ["progressDeadlineSeconds"]);
  if (deadline <= numberOf(spec, "minReadySeconds")) {
    at.child("progressDeadlineSeconds").invalid(deadline, "must be greater than minReadySeconds");
  }
  return at;
}

function checkStrategy(strategy: JsonObject, at: Place): void {
  const rolling = maybeObject(strategy, "rollingUpdate");
  switch (textOf(strategy, "type")) {
    case "Recreate":
      if (has(strategy, "rollingUpdate")) {
        at.child("rollingUpdate").forbidden(
          "may not be specified when strategy `type` is 'Recreate'",
        );
      }
      return;
    case "RollingUpdate":
      if (rolling === undefined) {
        at.child("rollingUpdate").required("this should be defaulted and never be nil");
      } else checkRollingUpdate(rolling, at.child("rollingUpdate"));
      return;
    default:
      at.notSupportedShown(showInternal("apps.DeploymentStrategy", strategy), [
        "Recreate",
        "RollingUpdate",
      ]);
  }
}

function checkRollingUpdate(rolling: JsonObject, at: Place): void {
  checkIntOrPercent(rolling, at, "maxUnavailable");
  checkIntOrPercent(rolling, at, "maxSurge");
  if (intOrPercent(rolling, "maxUnavailable") === 0 && intOrPercent(rolling, "maxSurge") === 0) {
    at.child("maxUnavailable").invalid(
      rolling["maxUnavailable"] ?? 0,
      "may not be 0 when `maxSurge` is 0",
    );
  }
  checkNotMoreThanAll(rolling, at, "maxUnavailable");
}
