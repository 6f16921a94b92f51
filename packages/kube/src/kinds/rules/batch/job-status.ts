// What the controller may say of a Job.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  flagOf,
  has,
  listOf,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  textOf,
} from "../../../object/members.ts";
import { hasCondition, isAnyTrue } from "../conditions.ts";
import { showInternal } from "../internal-form.ts";
import { checkNotNegative } from "../meta/checks.ts";
import type { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { countIndexes, firstOverlap } from "./job-indexes.ts";
import { isIndexed } from "./job-spec.ts";

/** Reports what is wrong with a status that replaces another. What was wrong before and has not changed is let through. */
export function checkJobStatus(job: JsonObject, old: JsonObject, at: Place): void {
  const [spec, status, before] = [
    objectOf(job, "spec"),
    objectOf(job, "status"),
    objectOf(old, "status"),
  ];
  const now = factsOf(status);
  const then = factsOf(before);
  const changes = (...names: readonly string[]): boolean =>
    names.some((name) => !semanticEqual(memberOf(status, name), memberOf(before, name)));
  const turns = (...facts: readonly (keyof Facts)[]): boolean =>
    facts.some((fact) => now[fact] !== then[fact]);
  const say = (detail: string): void => at.child("conditions").invalidUnshown(detail);

  checkNotNegative(status, at, ["active", "succeeded", "failed", "ready", "terminating"]);
  checkUncounted(objectOf(status, "uncountedTerminatedPods"), at.child("uncountedTerminatedPods"));
  if (turns("isComplete", "isFailed") && now.isComplete && now.isFailed) {
    say("cannot set Complete=True and Failed=true conditions");
  }
  if (turns("isComplete", "isFailing") && now.isComplete && now.isFailing) {
    say("cannot set Complete=True and FailureTarget=true conditions");
  }
  checkTimes(status, at, {
    now,
    isCompletionJudged: turns("isComplete") || changes("completionTime"),
    isOrderJudged: changes("startTime", "completionTime"),
  });
  if ((turns("isFailed") || changes("failedIndexes")) && now.isFailed && !now.isFailing) {
    say("cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if (turns("isComplete", "isMet") && now.isComplete && !now.isMet) {
    say("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
  if (now.isFinished) checkFinished(status, at, { spec, turns: turns("isFinished"), changes });
  checkIndexes(spec, status, at, changes);
  if (
    (turns("isFinished") || changes("terminating")) &&
    now.isFinished &&
    numberOf(status, "terminating") > 0
  ) {
    at.child("terminating").invalid(
      numberOf(status, "terminating"),
      "terminating>0 is invalid for finished job",
    );
  }
  const ready = maybeNumber(status, "ready");
  if (changes("ready", "active") && ready !== undefined && ready > numberOf(status, "active")) {
    at.child("ready").invalid(ready, "cannot set more ready pods than active");
  }
  if (now.isMet && now.isFailed)
    say("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (now.isMet && now.isFailing) {
    say("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  }
  if (has(spec, "successPolicy") && !now.isMet && now.isComplete) {
    say("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
  checkProgress(job, old, at);
}

interface Facts {
  readonly isComplete: boolean;
  readonly isFailed: boolean;
  readonly isFailing: boolean;
  readonly isMet: boolean;
  readonly isFinished: boolean;
}

function factsOf(status: JsonObject): Facts {
  const [isComplete, isFailed] = [isAnyTrue(status, "Complete"), isAnyTrue(status, "Failed")];
  return {
    isComplete,
    isFailed,
    isFailing: isAnyTrue(status, "FailureTarget"),
    isMet: isAnyTrue(status, "SuccessCriteriaMet"),
    isFinished: isComplete || isFailed,
  };
}

function checkUncounted(pods: JsonObject, at: Place): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const [index, uid] of listOf(pods, list).entries()) {
      const place = at.child(list).item(index);
      const text = typeof uid === "string" ? uid : "";
      if (text === "") place.invalid(text, "must not be empty");
      else if (seen.has(text)) place.duplicateWord(text);
      else seen.add(text);
    }
  }
}

function checkTimes(
  status: JsonObject,
  at: Place,
  {
    now,
    isCompletionJudged,
    isOrderJudged,
  }: { readonly now: Facts; readonly isCompletionJudged: boolean; readonly isOrderJudged: boolean },
): void {
  const [start, end] = [maybeText(status, "startTime"), maybeText(status, "completionTime")];
  const place = at.child("completionTime");
  if (isCompletionJudged && end !== undefined && !now.isComplete) {
    place.invalid(end, "cannot set completionTime when there is no Complete=True condition");
  }
  if (isCompletionJudged && end === undefined && now.isComplete) {
    place.required("completionTime is required for Complete jobs");
  }
  // Times are canonical, so that their texts are in their order.
  if (isOrderJudged && start !== undefined && end !== undefined && end < start) {
    place.invalid(end, "must be equal to or after `startTime`");
  }
}

function checkFinished(
  status: JsonObject,
  at: Place,
  {
    spec,
    turns,
    changes,
  }: {
    readonly spec: JsonObject;
    readonly turns: boolean;
    readonly changes: (...names: readonly string[]) => boolean;
  },
): void {
  const active = numberOf(status, "active");
  if ((turns || changes("active")) && active > 0) {
    at.child("active").invalid(active, "active>0 is invalid for finished job");
  }
  const isNothingToDo = flagOf(spec, "suspend") && maybeNumber(spec, "completions") === 0;
  if ((turns || changes("startTime")) && !isNothingToDo && !has(status, "startTime")) {
    at.child("startTime").required("startTime is required for finished job");
  }
  const uncounted = maybeObject(status, "uncountedTerminatedPods");
  if (uncounted === undefined || !(turns || changes("uncountedTerminatedPods"))) return;
  if (listOf(uncounted, "failed").length + listOf(uncounted, "succeeded").length > 0) {
    at.child("uncountedTerminatedPods").invalidShown(
      showInternal("batch.UncountedTerminatedPods", uncounted),
      "must be empty for finished job",
    );
  }
}

function checkIndexes(
  spec: JsonObject,
  status: JsonObject,
  at: Place,
  changes: (...names: readonly string[]) => boolean,
): void {
  const completions = maybeNumber(spec, "completions");
  const [done, failed] = [textOf(status, "completedIndexes"), maybeText(status, "failedIndexes")];
  const hasLimit = has(spec, "backoffLimitPerIndex");
  const judge = (name: string, text: string): void => {
    const found = completions === undefined ? 0 : countIndexes(text, completions);
    if (typeof found === "string") at.child(name).invalid(text, `error parsing ${name}: ${found}`);
  };
  if (changes("completedIndexes")) judge("completedIndexes", done);
  if (changes("failedIndexes") && hasLimit && failed !== undefined) judge("failedIndexes", failed);
  if (changes("completedIndexes") && done !== "" && !isIndexed(spec)) {
    at.child("completedIndexes").invalid(
      done,
      "cannot set non-empty completedIndexes when non-indexed completion mode",
    );
  }
  if (failed === undefined) return;
  if (changes("failedIndexes") && !hasLimit) {
    at.child("failedIndexes").invalid(
      failed,
      "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
    );
  }
  if (!changes("failedIndexes", "completedIndexes") || completions === undefined) return;
  const overlap = firstOverlap(done, failed, completions);
  if (overlap !== undefined) {
    at.child("failedIndexes").invalid(
      failed,
      `failedIndexes and completedIndexes overlap at index: ${overlap}`,
    );
  }
}

/** What only goes one way. */
function checkProgress(job: JsonObject, old: JsonObject, at: Place): void {
  const [spec, status, before] = [
    objectOf(job, "spec"),
    objectOf(job, "status"),
    objectOf(old, "status"),
  ];
  const say = (detail: string): void => at.child("conditions").invalidUnshown(detail);
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (isAnyTrue(before, type) && !isAnyTrue(status, type)) {
      say(`cannot disable the terminal ${type}=True condition`);
    }
  }
  if (numberOf(status, "failed") < numberOf(before, "failed")) {
    at.child("failed").invalid(numberOf(status, "failed"), "cannot decrease the failed counter");
  }
  const isElastic =
    isIndexed(spec) && maybeNumber(spec, "completions") === maybeNumber(spec, "parallelism");
  if (!isElastic && numberOf(status, "succeeded") < numberOf(before, "succeeded")) {
    at.child("succeeded").invalid(
      numberOf(status, "succeeded"),
      "cannot decrease the succeeded counter",
    );
  }
  const [end, oldEnd] = [maybeText(status, "completionTime"), maybeText(before, "completionTime")];
  if (end !== undefined && oldEnd !== undefined && end !== oldEnd) {
    at.child("completionTime").invalid(end, "field is immutable");
  }
  const [start, oldStart] = [maybeText(status, "startTime"), maybeText(before, "startTime")];
  const isResuming = isAnyTrue(before, "Suspended") && hasCondition(status, "Suspended", "False");
  if (oldStart !== undefined && start !== oldStart && !isResuming && !flagOf(spec, "suspend")) {
    at.child("startTime").invalid(start ?? null, "field is immutable for unsuspended job once set");
  }
  if (isAnyTrue(before, "SuccessCriteriaMet") && !isAnyTrue(status, "SuccessCriteriaMet")) {
    say("cannot disable the SuccessCriteriaMet=True condition");
  }
  const wasOnlyComplete = isAnyTrue(before, "Complete") && !isAnyTrue(before, "SuccessCriteriaMet");
  if (wasOnlyComplete && isAnyTrue(status, "SuccessCriteriaMet")) {
    say("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}
