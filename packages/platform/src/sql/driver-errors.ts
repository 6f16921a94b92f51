// The one place that reads SQLSTATEs and the driver's codes.

import { isConnectionFailure, isDistrust, isTlsFailure } from "@keelson/base";
import { StepError, type StepReason } from "../steps/step-error.ts";

/** What the driver threw: PostgreSQL's own fields, or a code of the system. */
interface DriverError {
  readonly message?: string;
  readonly code?: string;
  readonly detail?: string;
  /** What would help, as a sentence. */
  readonly hint?: string;
}

/** Whether PostgreSQL did not believe who we are. */
export function isAuthenticationFailure(error: unknown): boolean {
  return codeOf(error).startsWith("28");
}

/** Whether the password is not the role's, or there is no such role: PostgreSQL does not tell which. */
export function isWrongPassword(error: unknown): boolean {
  return codeOf(error) === "28P01";
}

/** Whether we may not do that. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** What `error` of `statement` means to a step. What is named already passes through. */
export function nameDriverError(error: unknown, statement: string, server: string): Error {
  if (error instanceof StepError) return error;
  const { message = "", detail = "", hint = "" } = error as DriverError;
  const code = codeOf(error);
  const said = detail === "" ? message : `${message} (${detail})`;
  // Not the driver's error itself: it holds the statement and its values.
  const cause = Object.assign(new Error(said), { code, statement });
  const reason = reasonOf(code);
  if (reason === undefined) return new Error(`${server}: ${statement} failed: ${said}`, { cause });
  if (isShort(code)) {
    const help = hint === "" ? "" : `; ${hint.replace(/\.$/, "")}`;
    return new StepError(reason, `${server}: short of resources: ${said}${help}`, { cause });
  }
  return new StepError(reason, `${server}: ${sentences[reason] ?? ""}${said}`, { cause });
}

const sentences: Partial<Record<StepReason, string>> = {
  Unreachable: "no answer: ",
  Refused: "refused: ",
  Conflict: "made by somebody else at this moment: ",
};

function reasonOf(code: string): StepReason | undefined {
  if (code.startsWith("28") || code === "42501") return "Refused";
  // A schema, a role, or the row of one that another transaction has not committed yet.
  if (["42P06", "42710", "23505"].includes(code)) return "Conflict";
  if (code === "2BP01") return "CleanupFailed";
  // In another's way: a lock, a deadlock, "tuple concurrently updated". The same may well succeed in a moment.
  if (["40001", "40P01", "55P03", "57014", "XX000"].includes(code)) return "Unreachable";
  return isAway(code) ? "Unreachable" : undefined;
}

/** Memory, locks, connections or a disk are used up: it did answer. */
function isShort(code: string): boolean {
  return /^53[0-9A-Z]{3}$/.test(code);
}

/** Connection exceptions, no resources, operator intervention, a standby; then the driver's and the system's codes. */
function isAway(code: string): boolean {
  return (
    /^(08|53|57P|25006|25P03)/.test(code) ||
    /^(CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED))$/.test(code) ||
    isConnectionFailure(code) ||
    // The certificate is not one that the URL asks for.
    isDistrust(code) ||
    isTlsFailure(code)
  );
}

function codeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === "string") return code;
  return cause instanceof Error ? codeOf(cause) : "";
}
