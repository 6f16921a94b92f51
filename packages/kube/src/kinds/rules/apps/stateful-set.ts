import type { JsonObject, MutableJsonObject } from "@keelson/base";

import {
  has,
  maybeNumber,
  maybeObject,
  objectOf,
  objectsOf,
  textOf,
  writableObject,
} from "../../../object/members.ts";
import { dnsLabelProblems, labelNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkClaimSpec, strictClaim } from "../core/claim-spec.ts";
import { claimSpecWarnings } from "../core/claim-warnings.ts";
import {
  checkPodTemplate,
  checkTemplateMetadata,
  templateOptions,
} from "../core/pod/pod-template.ts";
import type { PodRuleOptions } from "../core/pod/pod-options.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showInternal } from "../internal-form.ts";
import { showSelector } from "../label-selectors.ts";
import { checkIntOrPercent, checkNotMoreThanAll, intOrPercent } from "../int-or-percent.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkRunsForever,
  checkCollisions,
  checkNotAbove,
  checkTemplateChosen,
  dropFromTemplate,
  isStatusChange,
} from "../workloads.ts";
import { checkRequiredSelector } from "./selected-template.ts";

export const statefulSetRules: KindRules = {
  names: labelNames,
  prepareForCreate: (set) => prepare(set, undefined),
  prepareForUpdate: prepare,
  validate: (set) => {
    const at = Place.root("spec");
    checkSpec(objectOf(set, "spec"), at, { options: templateOptions(undefined), isUpdate: false });
    return at.errors;
  },
  validateUpdate: (set, old) => {
    const [spec, before] = [objectOf(set, "spec"), objectOf(old, "spec")];
    const options = templateOptions(objectOf(before, "template"));
    const tried = Place.root("spec");
    checkSpec(before, tried, { options, isUpdate: true });
    const at = Place.root("spec");
    checkSpec(spec, at, { options, isUpdate: true, skipTemplate: tried.errors.length > 0 });
    const kept = Object.fromEntries(
      Object.entries({ ...before, ...spec }).map(([name, value]) => [
        name,
        changeable.has(name) ? (before[name] ?? null) : has(spec, name) ? value : null,
      ]),
    );
    if (!semanticEqual(withoutNulls(kept), withoutNulls(before))) {
      at.forbidden(
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      );
    }
    return at.errors;
  },
  validateStatusUpdate: (set, old) => {
    const at = Place.root("status");
    const status = objectOf(set, "status");
    checkNotNegative(status, at, [
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ]);
    checkNotAbove(status, at, [
      ["readyReplicas", "replicas"],
      ["currentReplicas", "replicas"],
      ["updatedReplicas", "replicas"],
      ["availableReplicas", "replicas"],
      ["availableReplicas", "readyReplicas"],
    ]);
    checkCollisions(status, objectOf(old, "status"), at);
    return at.errors;
  },
  warnings: (set, old) => {
    if (isStatusChange(set, old)) return [];
    const spec = objectOf(set, "spec");
    const isSame = old !== undefined && semanticEqual(spec, objectOf(old, "spec"));
    const claims = objectsOf(spec, "volumeClaimTemplates").flatMap((claim, index) =>
      claimSpecWarnings(
        objectOf(claim, "spec"),
        `spec.volumeClaimTemplates[${index}]${old === undefined ? "" : ".Spec"}`,
      ),
    );
    const limit = maybeNumber(spec, "revisionHistoryLimit");
    return [
      ...(isSame ? [] : templateWarnings(objectOf(spec, "template"), "spec.template")),
      ...claims,
      ...(limit !== undefined && limit < 0
        ? [
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
          ]
        : []),
    ];
  },
};

const changeable: ReadonlySet<string> = new Set([
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
]);

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function prepare(set: MutableJsonObject, old: JsonObject | undefined): void {
  const spec = writableObject(set, "spec");
  if (spec === undefined) return;
  const before = old && objectOf(old, "spec");
  const rollingOf = (holder: JsonObject): JsonObject =>
    objectOf(objectOf(holder, "updateStrategy"), "rollingUpdate");
  if (before === undefined || !has(rollingOf(before), "maxUnavailable")) {
    const strategy = writableObject(spec, "updateStrategy");
    const rolling = strategy && writableObject(strategy, "rollingUpdate");
    if (rolling !== undefined) delete rolling["maxUnavailable"];
  }
  dropFromTemplate(spec, before);
}

interface SpecOptions {
  readonly options: PodRuleOptions;
  readonly isUpdate: boolean;
  readonly skipTemplate?: boolean;
}

function checkSpec(
  spec: JsonObject,
  at: Place,
  { options, isUpdate, skipTemplate = false }: SpecOptions,
): void {
  const policy = textOf(spec, "podManagementPolicy");
  if (policy === "") at.child("podManagementPolicy").required();
  else if (policy !== "OrderedReady" && policy !== "Parallel") {
    at.child("podManagementPolicy").invalidWord(policy, "must be 'OrderedReady' or 'Parallel'");
  }
  checkStrategy(objectOf(spec, "updateStrategy"), at.child("updateStrategy"));
  const retention = maybeObject(spec, "persistentVolumeClaimRetentionPolicy");
  for (const name of retention === undefined ? [] : ["whenDeleted", "whenScaled"]) {
    const type = textOf(retention ?? {}, name);
    if (type !== "Retain" && type !== "Delete") {
      at.child("persistentVolumeClaimRetentionPolicy")
        .child(name)
        .notSupported(type, ["Retain", "Delete"]);
    }
  }
  const claims = objectsOf(spec, "volumeClaimTemplates");
  if (!isUpdate) {
    for (const [index, claim] of claims.entries()) {
      const place = at.child("volumeClaimTemplates").item(index).child("spec");
      checkClaimSpec(objectOf(claim, "spec"), place, strictClaim);
    }
  }
  checkNotNegative(spec, at, ["replicas", "minReadySeconds"]);
  checkNotNegative(objectOf(spec, "ordinals"), at.child("ordinals"), ["start"]);
  const service = textOf(spec, "serviceName");
  if (!isUpdate && service !== "")
    at.child("serviceName").invalidEach(service, dnsLabelProblems(service));
  checkRequiredSelector(spec, at, { emptyDetail: "empty selector is invalid for statefulset" });
  checkTemplate(spec, at, { options, skipTemplate });
  checkRunsForever(objectOf(spec, "template"), at.child("template"), "StatefulSet");
}

function checkTemplate(
  spec: JsonObject,
  at: Place,
  { options, skipTemplate }: { readonly options: PodRuleOptions; readonly skipTemplate: boolean },
): void {
  const selector = maybeObject(spec, "selector");
  const template = asPodsWillHaveIt(spec);
  const place = at.child("template");
  if (!checkTemplateChosen(selector, template, place)) {
    at.child("selector").invalidShown(showSelector(selector), "");
    return;
  }
  if (!skipTemplate) checkPodTemplate(template, place, options);
  checkTemplateMetadata(template, place, options);
}

/** The controller sets names and volumes of each Pod: what the template says of them does not count. */
function asPodsWillHaveIt(spec: JsonObject): JsonObject {
  const template = objectOf(spec, "template");
  const pod = objectOf(template, "spec");
  const claims = objectsOf(spec, "volumeClaimTemplates");
  const names = new Set(claims.map((claim) => textOf(objectOf(claim, "metadata"), "name")));
  if (names.size === 0 && !has(pod, "subdomain") && !has(pod, "hostname")) return template;
  const volumes =
    names.size === 0
      ? objectsOf(pod, "volumes")
      : [
          ...Array.from(names, (name) => ({ name, persistentVolumeClaim: { claimName: name } })),
          ...objectsOf(pod, "volumes").filter((volume) => !names.has(textOf(volume, "name"))),
        ];
  return { ...template, spec: { ...pod, subdomain: "", hostname: "", volumes } };
}

function checkStrategy(strategy: JsonObject, at: Place): void {
  const rolling = maybeObject(strategy, "rollingUpdate");
  switch (textOf(strategy, "type")) {
    case "":
      at.required();
      return;
    case "OnDelete":
      if (rolling !== undefined) {
        at.child("rollingUpdate").invalidShown(
          showInternal("apps.RollingUpdateStatefulSetStrategy", rolling),
          "only allowed for updateStrategy 'RollingUpdate'",
        );
      }
      return;
    case "RollingUpdate":
      if (rolling !== undefined) checkRollingUpdate(rolling, at.child("rollingUpdate"));
      return;
    default:
      at.invalidShown(
        showInternal("apps.StatefulSetUpdateStrategy", strategy),
        "must be 'RollingUpdate' or 'OnDelete'",
      );
  }
}

function checkRollingUpdate(rolling: JsonObject, at: Place): void {
  checkNotNegative(rolling, at, ["partition"]);
  if (!has(rolling, "maxUnavailable")) return;
  checkIntOrPercent(rolling, at, "maxUnavailable");
  if (intOrPercent(rolling, "maxUnavailable") === 0) {
    at.child("maxUnavailable").invalid(rolling["maxUnavailable"] ?? 0, "cannot be 0");
  }
  checkNotMoreThanAll(rolling, at, "maxUnavailable");
}
