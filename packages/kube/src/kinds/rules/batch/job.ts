import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  flagOf,
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  takeMember,
  textOf,
  writableObject,
  writableOrMade,
} from "../../../object/members.ts";
import { dnsLabelProblems } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { isAnyTrue } from "../conditions.ts";
import type { PodRuleOptions } from "../core/pod/pod-options.ts";
import { templateOptions } from "../core/pod/pod-template.ts";
import { showInternal } from "../internal-form.ts";
import {
  checkLabelSelector,
  chooses,
  hasInvalidValue,
  readSelector,
  showSelector,
} from "../label-selectors.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import {
  checkSameMeaning,
  checkTemplateChosen,
  dropFromTemplate,
  podNameWarnings,
} from "../workloads.ts";
import { checkJobSpec, isIndexed, jobSpecWarnings } from "./job-spec.ts";
import { checkJobStatus } from "./job-status.ts";

const uidLabel = "batch.kubernetes.io/controller-uid";
const nameLabel = "batch.kubernetes.io/job-name";
const oldUidLabel = "controller-uid";
const oldNameLabel = "job-name";

export const jobRules: KindRules = {
  prepareForCreate: (job) => {
    const spec = writableOrMade(job, "spec");
    if (!flagOf(spec, "manualSelector")) selectOwnPods(job, spec);
    dropFromTemplate(spec, undefined);
  },
  prepareForUpdate: (job, old) => {
    const spec = writableObject(job, "spec");
    if (spec !== undefined) dropFromTemplate(spec, objectOf(old, "spec"));
  },
  validate: (job) => {
    const at = Place.root("spec");
    checkJob(job, at, { options: templateOptions(undefined), needsLabels: true });
    return at.errors;
  },
  validateUpdate: (job, old) => {
    const at = Place.root("spec");
    const before = objectOf(old, "spec");
    const options = templateOptions(objectOf(before, "template"));
    const own = {
      options: {
        ...options,
        allowInvalidSelectorValues:
          options.allowInvalidSelectorValues || hasInvalidValue(maybeObject(before, "selector")),
      },
      needsLabels: [uidLabel, nameLabel].every((label) => has(labelsOf(before), label)),
    };
    checkJob(job, at, own);
    // The real server judges the spec again with its changes: the causes tell each error of it twice.
    checkSelectedSpec(objectOf(job, "spec"), at, own.options);
    checkChanges(job, old, at);
    return at.errors;
  },
  validateStatusUpdate: (job, old) => {
    const at = Place.root("status");
    checkJobStatus(job, old, at);
    return at.errors;
  },
  warnings: (job, old) => {
    const spec = objectOf(job, "spec");
    if (old === undefined) {
      return [...podNameWarnings(job, "Pod names and hostnames"), ...jobSpecWarnings(spec, "spec")];
    }
    return semanticEqual(spec, objectOf(old, "spec")) ? [] : jobSpecWarnings(spec, "spec");
  },
};

/** A Job finds its Pods by its uid, unless its author selects them. */
function selectOwnPods(job: MutableJsonObject, spec: MutableJsonObject): void {
  const metadata = writableOrMade(job, "metadata");
  const template = writableOrMade(spec, "template");
  const labels = writableOrMade(writableOrMade(template, "metadata"), "labels");
  // A Job without labels has those of its template. By now nobody knows whether its author said the same.
  const isLabelled = !semanticEqual(objectOf(metadata, "labels"), labels);
  for (const label of [oldNameLabel, nameLabel]) {
    if (!has(labels, label)) labels[label] = textOf(metadata, "name");
  }
  for (const label of [oldUidLabel, uidLabel]) {
    if (!has(labels, label)) labels[label] = textOf(metadata, "uid");
  }
  const chosen = writableOrMade(writableOrMade(spec, "selector"), "matchLabels");
  if (!has(chosen, uidLabel)) chosen[uidLabel] = textOf(metadata, "uid");
  if (!isLabelled) metadata["labels"] = { ...labels };
}

function labelsOf(spec: JsonObject): JsonObject {
  return objectOf(objectOf(objectOf(spec, "template"), "metadata"), "labels");
}

interface JobOptions {
  readonly options: PodRuleOptions;
  readonly needsLabels: boolean;
}

function checkJob(job: JsonObject, at: Place, { options, needsLabels }: JobOptions): void {
  const spec = objectOf(job, "spec");
  checkGeneratedSelector(job, at, { needsLabels });
  checkSelectedSpec(spec, at, options);
  const completions = maybeNumber(spec, "completions") ?? 0;
  const name = textOf(objectOf(job, "metadata"), "name");
  if (!isIndexed(spec) || completions <= 0) return;
  const hostname = `${name}-${completions - 1}`;
  if (dnsLabelProblems(hostname).length > 0) {
    Place.root("metadata", at.errors)
      .child("name")
      .invalid(name, `will not able to create pod with invalid DNS label: ${hostname}`);
  }
}

function checkGeneratedSelector(
  job: JsonObject,
  at: Place,
  { needsLabels }: { readonly needsLabels: boolean },
): void {
  const spec = objectOf(job, "spec");
  const selector = maybeObject(spec, "selector");
  if (flagOf(spec, "manualSelector") || selector === undefined) return;
  const [uid, name] = [
    textOf(objectOf(job, "metadata"), "uid"),
    textOf(objectOf(job, "metadata"), "name"),
  ];
  if (uid === "") Place.root("metadata", at.errors).child("uid").required();
  const expected: [string, string][] = [
    [oldUidLabel, uid],
    [oldNameLabel, name],
    ...(needsLabels
      ? ([
          [uidLabel, uid],
          [nameLabel, name],
        ] as [string, string][])
      : []),
  ];
  const labels = labelsOf(spec);
  const place = at.child("template").child("metadata").child("labels");
  for (const [label, value] of expected) {
    const found = maybeText(labels, label);
    if (found === undefined) place.key(label).required(`must be '${value}'`);
    else if (found !== value) place.key(label).invalid(labels, `must be '${value}'`);
  }
  const read = readSelector(selector);
  if (read !== undefined && !chooses(read, Object.fromEntries(expected))) {
    at.child("selector").invalidShown(showSelector(selector), "`selector` not auto-generated");
  }
}

function checkSelectedSpec(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  checkJobSpec(spec, at, options);
  const selector = maybeObject(spec, "selector");
  if (selector === undefined) at.child("selector").required();
  else {
    checkLabelSelector(selector, at.child("selector"), {
      allowInvalidValues: options.allowInvalidSelectorValues,
    });
  }
  checkTemplateChosen(selector, objectOf(spec, "template"), at.child("template"));
}

function checkChanges(job: JsonObject, old: JsonObject, at: Place): void {
  const [spec, before] = [objectOf(job, "spec"), objectOf(old, "spec")];
  checkCompletions(spec, before, at.child("completions"));
  const immutable = (name: string, show?: (value: Json) => string): void =>
    checkSameMeaning(memberOf(spec, name), memberOf(before, name), at.child(name), show);
  immutable("selector", () => showSelector(maybeObject(spec, "selector")));
  checkTemplateChange(spec, at, old);
  immutable("completionMode");
  const shownAs =
    (type: string, name: string) =>
    (value: Json): string =>
      value === null ? "null" : showInternal(type, objectOf(spec, name));
  immutable("podFailurePolicy", shownAs("batch.PodFailurePolicy", "podFailurePolicy"));
  immutable("backoffLimitPerIndex");
  immutable("managedBy");
  immutable("successPolicy", shownAs("batch.SuccessPolicy", "successPolicy"));
}

function checkCompletions(spec: JsonObject, old: JsonObject, at: Place): void {
  const [next, before] = [maybeNumber(spec, "completions"), maybeNumber(old, "completions")];
  if (!isIndexed(spec)) {
    checkSameMeaning(next, before, at);
    return;
  }
  if (next === before || next === undefined) return;
  if (next !== maybeNumber(spec, "parallelism")) {
    at.invalid(next, "can only be modified in tandem with spec.parallelism");
  }
}

/** A Job that is suspended and has not begun may be scheduled otherwise, with other resources. */
function checkTemplateChange(spec: JsonObject, at: Place, old: JsonObject): void {
  const [before, status] = [objectOf(old, "spec"), objectOf(old, "status")];
  const [template, oldTemplate] = [objectOf(spec, "template"), objectOf(before, "template")];
  const isIdle =
    flagOf(before, "suspend") &&
    (!has(status, "startTime") || isAnyTrue(status, "Suspended")) &&
    numberOf(status, "active") === 0;
  const expected = isIdle ? withScheduling(oldTemplate, template) : oldTemplate;
  if (isIdle) {
    const own = withResources(objectOf(expected, "spec"), objectOf(template, "spec"));
    checkSameMeaning(objectOf(template, "spec"), own, at.child("template.spec"), () =>
      showInternal("core.PodSpec", objectOf(template, "spec")),
    );
  } else {
    checkSameMeaning(template, expected, at.child("template"), () =>
      showInternal("core.PodTemplateSpec", template),
    );
  }
}

/** The old template with the new directives for scheduling. */
function withScheduling(old: JsonObject, next: JsonObject): JsonObject {
  const [spec, own] = [objectOf(old, "spec"), objectOf(next, "spec")];
  const kept: Record<string, Json> = { ...spec };
  for (const name of ["nodeSelector", "tolerations", "schedulingGates"])
    takeMember(kept, own, name);
  const [affinity, nextAffinity] = [maybeObject(spec, "affinity"), maybeObject(own, "affinity")];
  const merged: Record<string, Json> = { ...affinity };
  takeMember(merged, nextAffinity ?? {}, "nodeAffinity");
  const isNone = Object.keys(merged).length === 0 && nextAffinity === undefined;
  if (affinity !== undefined || nextAffinity !== undefined) {
    if (isNone) delete kept["affinity"];
    else kept["affinity"] = merged;
  }
  const metadata: Record<string, Json> = { ...objectOf(old, "metadata") };
  for (const name of ["annotations", "labels"])
    takeMember(metadata, objectOf(next, "metadata"), name);
  return { ...old, metadata, spec: kept };
}

/** The old spec with the new resources of containers that are still the same. */
function withResources(old: JsonObject, next: JsonObject): JsonObject {
  const kept: Record<string, Json> = { ...old };
  for (const list of ["containers", "initContainers"]) {
    const [before, after] = [objectsOf(old, list), objectsOf(next, list)];
    if (before.length !== after.length || before.length === 0) continue;
    kept[list] = before.map((container, index) => {
      const own: Record<string, Json> = { ...container };
      const other = after[index] ?? {};
      if (textOf(other, "name") === textOf(container, "name")) takeMember(own, other, "resources");
      return own;
    });
  }
  return kept;
}
