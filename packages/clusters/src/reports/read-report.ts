// A report from its body: what a schema cannot say, and one spelling for both.

import {
  isJsonObject,
  refuseProblems,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { StatusReport } from "../schema.ts";
import { errorTypes, type Condition, type LastError, type Report } from "./report.ts";

/** A report before it is stored: a condition may not say when it became so. */
export interface SentReport {
  readonly controllerName: string;
  readonly observedGeneration: number;
  readonly conditions: readonly (Omit<Condition, "lastTransitionTime"> & {
    readonly lastTransitionTime?: string;
  })[];
  readonly metadata: JsonObject;
  readonly lastError: LastError | null;
  /** Undefined leaves it as it is. */
  readonly finalizer: boolean | undefined;
}

/** Throws `VALIDATION_FAILED` with all that is wrong. */
export function readReport(body: StatusReport): SentReport {
  const problems: FieldProblem[] = [];
  const types = new Set<string>();
  for (const [index, { type }] of body.conditions.entries()) {
    if (types.has(type)) {
      problems.push({ field: `conditions[${index}].type`, message: "stands twice" });
    }
    types.add(type);
  }
  // To a schema a number that is kept as it was written (1.0) is an object too.
  for (const [field, value] of [
    ["metadata", body.metadata],
    ["last_error.details", body.last_error?.details],
  ] as const) {
    if (value === undefined || isJsonObject(value as Json)) continue;
    problems.push({ field, message: "must be an object" });
  }
  if (body.controller_name.trim() === "") {
    problems.push({ field: "controller_name", message: "must not be empty" });
  }
  const lastError =
    body.last_error === undefined || body.last_error === null
      ? null
      : oneSpelling(body.last_error, problems);
  refuseProblems(problems);
  return {
    controllerName: body.controller_name,
    observedGeneration: body.observed_generation,
    conditions: body.conditions.map(
      ({ type, status, reason = "", message = "", lastTransitionTime, severity }) => ({
        type,
        status,
        reason,
        message,
        ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
        ...(severity === undefined ? {} : { severity }),
      }),
    ),
    metadata: (body.metadata ?? {}) as JsonObject,
    lastError,
    finalizer: body.finalizer,
  };
}

/** The camel-case spelling wins where both are there. */
function oneSpelling(
  sent: NonNullable<StatusReport["last_error"]>,
  problems: FieldProblem[],
): LastError {
  const controllerName = sent.controllerName ?? sent.controller_name;
  const errorType = sent.errorType ?? sent.error_type;
  const errorCode = sent.errorCode ?? sent.error_code;
  const userActionable = sent.userActionable ?? sent.user_actionable;
  const retryAfter = sent.retryAfter ?? sent.retry_after;
  const { message = "", suggestions, details, timestamp } = sent;
  if (errorType === undefined) {
    problems.push({
      field: "last_error.errorType",
      message: `must be one of ${errorTypes.join(", ")}`,
    });
  }
  return {
    ...(controllerName === undefined ? {} : { controllerName }),
    errorType: errorType ?? "System",
    ...(errorCode === undefined ? {} : { errorCode }),
    message,
    ...(userActionable === undefined ? {} : { userActionable }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(details === undefined ? {} : { details: details as JsonObject }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(timestamp === undefined ? {} : { timestamp }),
  };
}

/** The report as it is stored after `before`: a condition that says the same since then says so since then. */
export function settleConditions(
  sent: SentReport["conditions"],
  before: readonly Condition[],
  now: string,
): readonly Condition[] {
  return sent.map(({ lastTransitionTime = now, ...condition }) => {
    const former = before.find(({ type }) => type === condition.type);
    const isSame = former?.status === condition.status;
    return {
      ...condition,
      lastTransitionTime: isSame
        ? (former.lastTransitionTime ?? lastTransitionTime)
        : lastTransitionTime,
    };
  });
}

export type Novelty = { readonly says: boolean; readonly generation: boolean };

/**
 * What is new in a report: in what it says, and in the generation it says it of. When something was said is not what
 * was said: a controller that stamps its error anew each time says nothing new.
 */
export function noveltyOf(
  after: Pick<Report, "conditions" | "metadata" | "lastError" | "observedGeneration">,
  before: typeof after,
  isEqual: (a: JsonObject, b: JsonObject) => boolean,
): Novelty {
  return {
    says: !isEqual(saidBy(after), saidBy(before)),
    generation: after.observedGeneration !== before.observedGeneration,
  };
}

function saidBy({
  conditions,
  metadata,
  lastError,
}: Pick<Report, "conditions" | "metadata" | "lastError">): JsonObject {
  const timeless = conditions
    .map(({ lastTransitionTime: _when, ...condition }) => condition)
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  if (lastError === null) return { conditions: timeless, metadata, lastError };
  const { timestamp: _when, ...error } = lastError;
  return { conditions: timeless, metadata, lastError: error };
}
