import type { JsonObject, MutableJsonObject } from "@keelson/base";

import {
  annotationsOf,
  maybeObject,
  numberOf,
  objectOf,
  textOf,
  writableObject,
  writableOrMade,
} from "../../../object/members.ts";
import { templateAnnotation } from "../../../typed/hub-form.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkPodTemplate, templateOptions } from "../core/pod/pod-template.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showInternal } from "../internal-form.ts";
import {
  checkLabelSelector,
  hasInvalidValue,
  isEmptySelector,
  showSelector,
} from "../label-selectors.ts";
import { checkIntOrPercent, checkNotMoreThanAll, intOrPercent } from "../int-or-percent.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkCollisions,
  checkRunsForever,
  checkSameMeaning,
  checkTemplateChosen,
  dropFromTemplate,
  templateOf,
} from "../workloads.ts";

export const daemonSetRules: KindRules = {
  prepareForCreate: (set) => {
    const spec = writableObject(set, "spec");
    if (spec !== undefined) dropFromTemplate(spec, undefined);
    setTemplateGeneration(set, templateGeneration(set) < 1n ? 1n : templateGeneration(set));
  },
  prepareForUpdate: (set, old) => {
    const spec = writableObject(set, "spec");
    if (spec !== undefined) dropFromTemplate(spec, objectOf(old, "spec"));
    const before = templateGeneration(old);
    setTemplateGeneration(
      set,
      semanticEqual(templateOf(set), templateOf(old)) ? before : BigInt.asIntN(64, before + 1n),
    );
  },
  prepareForStatusUpdate: (set, old) => setTemplateGeneration(set, templateGeneration(old)),
  validate: (set) => {
    const at = Place.root("spec");
    checkSpec(set, at, undefined);
    return at.errors;
  },
  validateUpdate: (set, old) => {
    const at = Place.root("spec");
    const selector = maybeObject(objectOf(set, "spec"), "selector");
    const before = maybeObject(objectOf(old, "spec"), "selector");
    // Only where it went round: it is counted here.
    if (templateGeneration(set) < templateGeneration(old)) {
      at.child("templateGeneration").invalid(templateGeneration(set), "must not be decremented");
    }
    checkSameMeaning(selector, before, at.child("selector"), () => showSelector(selector));
    checkSpec(set, at, old);
    return at.errors;
  },
  validateStatusUpdate: (set, old) => {
    const at = Place.root("status");
    const status = objectOf(set, "status");
    checkNotNegative(status, at, [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ]);
    checkCollisions(status, objectOf(old, "status"), at);
    return at.errors;
  },
  warnings: (set, old) => {
    const isSame = old !== undefined && semanticEqual(templateOf(set), templateOf(old));
    return isSame ? [] : templateWarnings(templateOf(set), "spec.template");
  },
};

/** 64 bits, in Go's own text since it was decoded. */
function templateGeneration(set: JsonObject): bigint {
  const text = textOf(annotationsOf(set), templateAnnotation);
  return /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : 0n;
}

function setTemplateGeneration(set: MutableJsonObject, generation: bigint): void {
  const metadata = writableOrMade(set, "metadata");
  writableOrMade(metadata, "annotations")[templateAnnotation] = String(generation);
}

function checkSpec(set: JsonObject, at: Place, old: JsonObject | undefined): void {
  const spec = objectOf(set, "spec");
  const selector = maybeObject(spec, "selector");
  const options = templateOptions(old && templateOf(old));
  const allowInvalidValues =
    options.allowInvalidSelectorValues ||
    (old !== undefined && hasInvalidValue(maybeObject(objectOf(old, "spec"), "selector")));
  checkLabelSelector(selector, at.child("selector"), { allowInvalidValues });
  checkTemplateChosen(selector, templateOf(set), at.child("template"));
  if (selector !== undefined && isEmptySelector(selector)) {
    at.child("selector").invalidShown(
      showSelector(selector),
      "empty selector is invalid for daemonset",
    );
  }
  checkPodTemplate(templateOf(set), at.child("template"), {
    ...options,
    allowInvalidSelectorValues: allowInvalidValues,
  });
  checkRunsForever(templateOf(set), at.child("template"), "DaemonSet");
  checkNotNegative(spec, at, ["minReadySeconds"]);
  if (templateGeneration(set) < 0n) {
    at.child("templateGeneration").invalid(
      templateGeneration(set),
      "must be greater than or equal to 0",
    );
  }
  checkStrategy(objectOf(spec, "updateStrategy"), at.child("updateStrategy"));
  checkNotNegative(spec, at, ["revisionHistoryLimit"]);
}

function checkStrategy(strategy: JsonObject, at: Place): void {
  const type = textOf(strategy, "type");
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    at.notSupportedShown(showInternal("apps.DaemonSetUpdateStrategy", strategy), [
      "RollingUpdate",
      "OnDelete",
    ]);
    return;
  }
  const rolling = maybeObject(strategy, "rollingUpdate");
  const place = at.child("rollingUpdate");
  if (rolling === undefined) {
    place.required();
    return;
  }
  for (const name of ["maxUnavailable", "maxSurge"]) checkIntOrPercent(rolling, place, name);
  for (const name of ["maxUnavailable", "maxSurge"]) checkNotMoreThanAll(rolling, place, name);
  const isUnavailable = intOrPercent(rolling, "maxUnavailable") !== 0;
  const isSurging = intOrPercent(rolling, "maxSurge") !== 0;
  if (isUnavailable && isSurging) {
    place
      .child("maxSurge")
      .invalid(
        rolling["maxSurge"] ?? numberOf(rolling, "maxSurge"),
        "may not be set when maxUnavailable is non-zero",
      );
  }
  if (!isUnavailable && !isSurging) {
    place.child("maxUnavailable").required("cannot be 0 when maxSurge is 0");
  }
}
