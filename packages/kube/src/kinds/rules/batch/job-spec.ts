// What a Job is to do: Jobs, and templates of Jobs.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import {
  has,
  listOf,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../object/members.ts";
import { labelKeyProblems } from "../../../object/names.ts";
import { quote } from "../../../go-text/quote.ts";
import { checkPodTemplate } from "../core/pod/pod-template.ts";
import type { PodRuleOptions } from "../core/pod/pod-options.ts";
import { templateWarnings } from "../core/pod/pod-warnings.ts";
import { showInternal } from "../internal-form.ts";
import { checkDomainPrefixedPath, checkNotNegative } from "../meta/checks.ts";
import type { Place } from "../place.ts";
import { countIndexes } from "./job-indexes.ts";

const parallelismMax = 100_000;
const failedIndexesMax = 100_000;
const manyCompletions = 100_000;
const parallelismMaxOfMany = 10_000;
const failedIndexesMaxOfMany = 10_000;

/** Reports what is wrong with the spec of a Job, the selector aside. */
export function checkJobSpec(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  checkNotNegative(spec, at, [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ]);
  if (has(spec, "maxFailedIndexes") && !has(spec, "backoffLimitPerIndex")) {
    at.child("backoffLimitPerIndex").required("when maxFailedIndexes is specified");
  }
  checkManager(spec, at.child("managedBy"));
  checkCompletionMode(spec, at);
  if (has(spec, "podFailurePolicy")) checkFailurePolicy(spec, at.child("podFailurePolicy"));
  checkSuccess(spec, at.child("successPolicy"));
  checkReplacement(spec, at.child("podReplacementPolicy"));
  const template = objectOf(spec, "template");
  checkPodTemplate(template, at.child("template"), options);
  checkRestart(spec, at.child("template").child("spec").child("restartPolicy"));
}

export function isIndexed(spec: JsonObject): boolean {
  return textOf(spec, "completionMode") === "Indexed";
}

function checkManager(spec: JsonObject, at: Place): void {
  const manager = maybeText(spec, "managedBy");
  if (manager === undefined) return;
  checkDomainPrefixedPath(manager, at);
  if (byteLength(manager) > 63) at.tooLong(63);
}

function checkCompletionMode(spec: JsonObject, at: Place): void {
  const mode = maybeText(spec, "completionMode");
  if (mode !== undefined && mode !== "NonIndexed" && mode !== "Indexed") {
    at.child("completionMode").notSupported(mode, ["NonIndexed", "Indexed"]);
  }
  if (mode === "Indexed") checkIndexed(spec, at);
  if (mode !== undefined && mode !== "NonIndexed") return;
  for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
    const value = maybeNumber(spec, name);
    if (value !== undefined) at.child(name).invalid(value, "requires indexed completion mode");
  }
}

function checkIndexed(spec: JsonObject, at: Place): void {
  const completions = maybeNumber(spec, "completions");
  const parallelism = maybeNumber(spec, "parallelism") ?? 0;
  const failed = maybeNumber(spec, "maxFailedIndexes");
  const say = (name: string, value: number, detail: string): void =>
    at.child(name).invalid(value, `must be less than or equal to ${detail}`);
  if (completions === undefined) {
    at.child("completions").required("when completion mode is Indexed");
  }
  if (parallelism > parallelismMax) {
    say("parallelism", parallelism, `${parallelismMax} when completion mode is Indexed`);
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    say("maxFailedIndexes", failed, "completions");
  }
  if (failed !== undefined && failed > failedIndexesMax) {
    say("maxFailedIndexes", failed, String(failedIndexesMax));
  }
  const isMany = completions !== undefined && completions > manyCompletions;
  if (!isMany || !has(spec, "backoffLimitPerIndex")) return;
  const ofMany = `when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (failed === undefined) {
    at.child("maxFailedIndexes").required(
      `must be specified when completions is above ${manyCompletions}`,
    );
  }
  if (parallelism > parallelismMaxOfMany) {
    say("parallelism", parallelism, `${parallelismMaxOfMany} ${ofMany}`);
  }
  if (failed !== undefined && failed > failedIndexesMaxOfMany) {
    say("maxFailedIndexes", failed, `${failedIndexesMaxOfMany} ${ofMany}`);
  }
}

const actions: readonly string[] = ["Count", "FailIndex", "FailJob", "Ignore"];

function oneOf(values: readonly string[]): string {
  return `valid values: [${values.map(quote).join(" ")}]`;
}

function checkFailurePolicy(spec: JsonObject, at: Place): void {
  const rules = objectsOf(objectOf(spec, "podFailurePolicy"), "rules");
  const place = at.child("rules");
  if (rules.length > 20) place.tooMany(rules.length, 20);
  const pod = objectOf(objectOf(spec, "template"), "spec");
  const names = new Set(
    ["containers", "initContainers"].flatMap((list) =>
      objectsOf(pod, list).map((container) => textOf(container, "name")),
    ),
  );
  for (const [index, rule] of rules.entries()) {
    const own = place.item(index);
    const action = textOf(rule, "action");
    if (action === "") own.child("action").required(oneOf(actions));
    else if (action === "FailIndex") {
      if (!has(spec, "backoffLimitPerIndex")) {
        own.child("action").invalid(action, "requires the backoffLimitPerIndex to be set");
      }
    } else if (!actions.includes(action)) own.child("action").notSupported(action, actions);
    const codes = maybeObject(rule, "onExitCodes");
    const conditions = objectsOf(rule, "onPodConditions");
    if (codes !== undefined) checkExitCodes(codes, own.child("onExitCodes"), names);
    checkConditions(conditions, own.child("onPodConditions"));
    if (codes !== undefined && conditions.length > 0) {
      own.invalidUnshown("specifying both OnExitCodes and OnPodConditions is not supported");
    }
    if (codes === undefined && conditions.length === 0) {
      own.invalidUnshown("specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

function checkConditions(conditions: readonly JsonObject[], at: Place): void {
  if (conditions.length > 20) at.tooMany(conditions.length, 20);
  const statuses = ["False", "True", "Unknown"];
  for (const [index, pattern] of conditions.entries()) {
    const [type, status] = [textOf(pattern, "type"), textOf(pattern, "status")];
    at.item(index).child("type").invalidEach(type, labelKeyProblems(type));
    if (status === "") at.item(index).child("status").required(oneOf(statuses));
    else if (!statuses.includes(status))
      at.item(index).child("status").notSupported(status, statuses);
  }
}

function checkExitCodes(codes: JsonObject, at: Place, names: ReadonlySet<string>): void {
  const operators = ["In", "NotIn"];
  const operator = textOf(codes, "operator");
  if (operator === "") at.child("operator").required(oneOf(operators));
  else if (!operators.includes(operator)) at.child("operator").notSupported(operator, operators);
  const name = maybeText(codes, "containerName");
  if (name !== undefined && !names.has(name)) {
    at.child("containerName").invalid(
      name,
      "must be one of the container or initContainer names in the pod template",
    );
  }
  const values = listOf(codes, "values").map(Number);
  const place = at.child("values");
  if (values.length === 0) place.invalid(codes["values"] ?? null, "at least one value is required");
  else if (values.length > 255) place.tooMany(values.length, 255);
  const seen = new Set<number>();
  let isOrdered = true;
  for (const [index, value] of values.entries()) {
    if (operator === "In" && value === 0) {
      place.item(index).invalid(value, "must not be 0 for the In operator");
    }
    if (seen.has(value)) place.item(index).duplicate(value);
    seen.add(value);
    if (index > 0 && (values[index - 1] ?? 0) > value) isOrdered = false;
  }
  if (!isOrdered) place.invalid(values, "must be ordered");
}

function checkSuccess(spec: JsonObject, at: Place): void {
  const policy = maybeObject(spec, "successPolicy");
  if (policy === undefined) return;
  if (!isIndexed(spec)) {
    at.invalidShown(
      showInternal("batch.SuccessPolicy", policy),
      "requires indexed completion mode",
    );
    return;
  }
  const rules = objectsOf(policy, "rules");
  if (rules.length === 0) {
    at.child("rules").required(
      "at least one rules must be specified when the successPolicy is specified",
    );
  }
  if (rules.length > 20) at.child("rules").tooMany(rules.length, 20);
  for (const [index, rule] of rules.entries()) {
    checkSuccessRule(rule, at.child("rules").item(index), maybeNumber(spec, "completions") ?? 0);
  }
}

function checkSuccessRule(rule: JsonObject, at: Place, completions: number): void {
  const [count, indexes] = [
    maybeNumber(rule, "succeededCount"),
    maybeText(rule, "succeededIndexes"),
  ];
  if (count === undefined && indexes === undefined) {
    at.required("at least one of succeededCount or succeededIndexes must be specified");
  }
  let total = 0;
  if (indexes !== undefined) {
    if (byteLength(indexes) > 64 * 1024) at.child("succeededIndexes").tooLong(64 * 1024);
    const found = countIndexes(indexes, completions);
    if (typeof found === "number") total = found;
    else {
      at.child("succeededIndexes").invalid(indexes, `error parsing succeededIndexes: ${found}`);
    }
  }
  if (count === undefined) return;
  checkNotNegative(rule, at, ["succeededCount"]);
  if (count > completions) {
    at.child("succeededCount").invalid(
      count,
      `must be less than or equal to ${completions} (the number of specified completions)`,
    );
  }
  if (indexes !== undefined && count > total) {
    at.child("succeededCount").invalid(
      count,
      `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
    );
  }
}

function checkReplacement(spec: JsonObject, at: Place): void {
  const policy = maybeText(spec, "podReplacementPolicy");
  if (policy === undefined) return;
  const allowed = has(spec, "podFailurePolicy") ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  if (!allowed.includes(policy)) at.notSupported(policy, allowed);
}

function checkRestart(spec: JsonObject, at: Place): void {
  const policy = textOf(objectOf(objectOf(spec, "template"), "spec"), "restartPolicy");
  if (policy === "Always" || policy === "") {
    at.required('valid values: "OnFailure", "Never"');
  } else if (policy !== "OnFailure" && policy !== "Never") {
    at.notSupported(policy, ["OnFailure", "Never"]);
  } else if (has(spec, "podFailurePolicy") && policy !== "Never") {
    at.invalidWord(policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

/** What to say of the spec of a Job at `path`. */
export function jobSpecWarnings(spec: JsonObject, path: string): readonly string[] {
  const isLarge =
    isIndexed(spec) &&
    numberOf(spec, "completions") > manyCompletions &&
    numberOf(spec, "parallelism") > parallelismMaxOfMany;
  return [
    ...(isLarge
      ? [
          `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...templateWarnings(objectOf(spec, "template"), `${path}.template`),
  ];
}
