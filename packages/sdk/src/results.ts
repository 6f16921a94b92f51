// How a reconcile ends, and what is reported of it.

import type { Condition, ConditionStatus, ErrorType, JsonMap, ReportedError } from "./resource.ts";

export type Result =
  | { readonly kind: "ready"; readonly metadata: JsonMap }
  | { readonly kind: "progressing"; readonly message: string; readonly requeueAfterMs?: number }
  | { readonly kind: "degraded"; readonly message: string }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "notApplicable"; readonly reason: string };

export interface Failure {
  readonly type: ErrorType;
  /** For machines: `QuotaExceeded`. */
  readonly code: string;
  /** For people. No secrets. */
  readonly message: string;
  /** Whether the owner of the cluster can do something about it. */
  readonly userActionable?: boolean;
  readonly suggestions?: readonly string[];
  readonly details?: JsonMap;
  /** When to try again, in milliseconds. */
  readonly retryAfter?: number;
}

/** Everything is as the spec wants it. The metadata is for controllers that depend on this one; no timestamps in it. */
export function ready(metadata: JsonMap = {}): Result {
  return { kind: "ready", metadata };
}

/** Work is under way. With `requeueAfter`, in milliseconds, the controller looks again by itself. */
export function progressing(message: string, requeueAfter?: number): Result {
  return {
    kind: "progressing",
    message,
    ...(requeueAfter === undefined ? {} : { requeueAfterMs: requeueAfter }),
  };
}

/** It works, but not as well as it should. */
export function degraded(message: string): Result {
  return { kind: "degraded", message };
}

/** It does not work. A `Transient` failure is tried again with backoff; others wait for the next event. */
export function failed(failure: Failure): Result {
  return { kind: "failed", failure };
}

/** This controller has nothing to do with this resource. */
export function notApplicable(reason: string): Result {
  return { kind: "notApplicable", reason };
}

/** The part of a report that a result decides. */
export interface Outcome {
  readonly conditions: readonly Condition[];
  readonly metadata: JsonMap;
  readonly last_error: ReportedError | null;
}

export interface OutcomeContext {
  readonly controllerName: string;
  readonly nowMs: number;
  /** What the same controller reported before: metadata outlive a result that has none of its own. */
  readonly before?: {
    readonly metadata: JsonMap;
    readonly last_error?: ReportedError | null;
  };
}

/**
 * What is reported of a result. The same result after itself gives the same report, byte for byte. Throws where it is none,
 * as authors who write JavaScript may return it.
 */
export function outcomeOf(result: Result, context: OutcomeContext): Outcome {
  const metadata = context.before?.metadata ?? {};
  switch (result?.kind) {
    case "ready":
      return {
        conditions: three("True", "True", "True", "Ready", "everything is as the spec wants it"),
        metadata: fittingMap(result.metadata ?? {}),
        last_error: null,
      };
    case "progressing":
      return {
        conditions: [
          ...three("True", "False", "False", "Progressing", result.message),
          condition("Progressing", "True", "Progressing", result.message),
        ],
        metadata,
        last_error: null,
      };
    case "degraded":
      return {
        conditions: [
          ...three("True", "True", "False", "Degraded", result.message),
          condition("Degraded", "True", "Degraded", result.message),
        ],
        metadata,
        last_error: null,
      };
    case "failed":
      return {
        conditions: three(
          "False",
          "False",
          "False",
          conditionReason(result.failure.code),
          result.failure.message,
        ),
        metadata,
        last_error: errorOf(result.failure, context),
      };
    case "notApplicable":
      return {
        conditions: [condition("Applied", "False", "NotApplicable", result.reason)],
        metadata: {},
        last_error: null,
      };
    default:
      throw new TypeError(
        "reconcile gave no result: return ready(), progressing(), degraded(), failed() or notApplicable()",
      );
  }
}

/** What is reported while somebody else has to act first. */
export function waiting(message: string, { before }: OutcomeContext): Outcome {
  return {
    conditions: [condition("Applied", "False", "PreconditionsNotMet", message)],
    metadata: before?.metadata ?? {},
    last_error: null,
  };
}

/** What is reported when the controller has let go of a resource that is being deleted. */
export function finalized(): Outcome {
  return {
    conditions: [condition("Finalized", "True", "Finalized", "everything has been taken back")],
    metadata: {},
    last_error: null,
  };
}

/** What is reported when it could not. */
export function notFinalized(failure: Failure, context: OutcomeContext): Outcome {
  return {
    conditions: [condition("Finalized", "False", "FinalizeFailed", failure.message)],
    metadata: context.before?.metadata ?? {},
    last_error: errorOf(failure, context),
  };
}

function three(
  applied: ConditionStatus,
  available: ConditionStatus,
  isReady: ConditionStatus,
  reason: string,
  message: string,
): Condition[] {
  return [
    condition("Applied", applied, reason, message),
    condition("Available", available, reason, message),
    condition("Ready", isReady, reason, message),
  ];
}

function condition(
  type: string,
  status: ConditionStatus,
  reason: string,
  message: string,
): Condition {
  return { type, status, reason: fitting(reason, codeMax), message: fitting(message, messageMax) };
}

/** The most that the API takes. A report that it refused would be sent again and again, and say nothing. */
const codeMax = 255;
const messageMax = 32_768;
const suggestionsMax = 100;
/** In nanoseconds, more than a hundred days. */
const retryAfterMax = Number.MAX_SAFE_INTEGER;

/**
 * Without what no report may hold, be it there or made by the cut: a NUL, half of a character. Authors who write JavaScript
 * may say what is no text, or nothing: that stays out of the report.
 */
function fitting(text: string, max?: number): string;
function fitting(said: string | number | null | undefined, max = Infinity): string | undefined {
  if (said === undefined || said === null) return undefined;
  return String(said).slice(0, max).replaceAll("\0", "\u{FFFD}").toWellFormed();
}

/** The same for every text in it, and every name. */
function fittingMap(map: JsonMap): JsonMap {
  if (!isMap(map)) throw new TypeError("the metadata of a result must be an object");
  const fit = (_name: string, value: unknown): unknown => {
    if (typeof value === "string") return fitting(value);
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [fitting(name), one]));
  };
  return JSON.parse(JSON.stringify(map, fit)) as JsonMap;
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For how long somebody can wait; undefined where what was calculated has come to nothing. */
export function waitOf(waitMs: number | undefined): number | undefined {
  return waitMs === undefined || !Number.isFinite(waitMs) ? undefined : Math.max(waitMs, 0);
}

/** `NotApplicable` as a reason has a meaning of its own: it takes a controller out of the count. */
function conditionReason(code: string): string {
  return code === "NotApplicable" ? "Failed" : code;
}

function errorOf(
  failure: Failure,
  { controllerName, nowMs, before }: OutcomeContext,
): ReportedError {
  const { type, userActionable = false, suggestions = [], details = {} } = failure;
  const retryAfter = waitOf(failure.retryAfter);
  const code = fitting(failure.code, codeMax);
  const message = fitting(failure.message, messageMax);
  const last = before?.last_error;
  // The time at which it began: a new one with every attempt would make every report a change, and wake everybody.
  const isSame =
    last !== undefined &&
    last !== null &&
    last.errorCode === code &&
    last.errorType === type &&
    last.message === message;
  return {
    controllerName,
    errorType: type,
    errorCode: code,
    message,
    userActionable,
    suggestions: suggestions
      .map((suggestion) => fitting(suggestion))
      .filter((suggestion) => suggestion !== undefined)
      .slice(0, suggestionsMax),
    details: isMap(details) ? fittingMap(details) : {},
    ...(retryAfter === undefined
      ? {}
      : { retryAfter: Math.min(Math.round(retryAfter * 1_000_000), retryAfterMax) }),
    timestamp: isSame ? last.timestamp : new Date(nowMs).toISOString(),
  };
}
