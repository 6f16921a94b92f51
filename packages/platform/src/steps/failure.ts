// What went wrong, as a condition shows it: what steps say of themselves, and what a cluster says.

import { hasCode, isConflict, isTransient, retryAfterMsOf, UnknownKind } from "@keelson/client";
import { StatusError } from "@keelson/kube";

import { StepError, type StepReason } from "./step-error.ts";

/** `Error`: something that nobody foresaw. */
export type FailureReason = StepReason | "Error";

export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof StepError) {
    const { reason, message, retryAfterMs } = error;
    return { reason, message, retryAfterMs };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { reason: reasonOf(error), message, retryAfterMs: retryAfterMsOf(error) };
}

function reasonOf(error: unknown): FailureReason {
  if (hasCode(error, 401) || hasCode(error, 403)) return "Refused";
  if (isTransient(error) || isConflict(error)) return "Unreachable";
  if (error instanceof UnknownKind) return "NotConfigured";
  return error instanceof StatusError ? "Refused" : "Error";
}
