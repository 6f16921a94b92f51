// The one place that reads what Keycloak answers when it does not do as it was asked.

import type { NetworkError } from "@keycloak/keycloak-admin-client";
import { retryAfterMsIn } from "../steps/retry-after.ts";
import { StepError, type StepReason } from "../steps/step-error.ts";
import { unsaid } from "../steps/unsaid.ts";

const saidMax = 300;

/** What was asked of whom, and with which secrets. */
export interface KeycloakCall {
  readonly name: string;
  readonly server: string;
  readonly secrets: readonly string[];
}

/** Whether Keycloak did not believe who we are. */
export function isUnauthorized(error: unknown): boolean {
  return statusOf(error) === 401;
}

/** Whether something of that name is there already. */
export function isTaken(error: unknown): boolean {
  return statusOf(error) === 409;
}

/** Whether what was to go is gone already. Only in Keycloak's own words: what stands before it says 404, too. */
export function isGone(error: unknown): boolean {
  return statusOf(error) === 404 && wordsOf(error) !== "";
}

/** Whether Keycloak, and nobody in its stead, says that there is no such realm. */
export function isNoRealm(error: unknown): boolean {
  return statusOf(error) === 404 && /realm not found/i.test(wordsOf(error));
}

/** Whether nobody knows what became of it: it was sent, and no answer came. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof StepError) || error.reason !== "Unreachable") return false;
  const { code = "" } = (error.cause ?? {}) as NodeJS.ErrnoException;
  const isUnsent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"].includes(code);
  return statusOf(error) === undefined && !isUnsent;
}

/** What `error` of a call means to a step. What is named already passes through. */
export function nameKeycloakError(error: unknown, call: KeycloakCall): Error {
  if (error instanceof StepError) return error;
  if (isAnswered(error)) return nameAnswer(error, call);
  const { name, server, secrets } = call;
  const { message, cause } = error as Error;
  // `fetch failed`, and below it why.
  if (error instanceof TypeError && cause instanceof Error) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = cause.message === "" ? (code ?? "connection lost") : unsaid(cause.message, secrets);
    // Not fetch's own error: it holds what came instead of an answer.
    const told = Object.assign(new Error(why), { code });
    return new StepError("Unreachable", `${server}: no answer to ${name}: ${why}`, { cause: told });
  }
  return new Error(`${server}: ${name} failed: ${unsaid(message, secrets)}`);
}

/** By what it has: its class would bring the whole library. */
function isAnswered(error: unknown): error is NetworkError {
  return error instanceof Error && "response" in error && "responseData" in error;
}

function nameAnswer({ response, responseData }: NetworkError, call: KeycloakCall): Error {
  const { name, server, secrets } = call;
  const { status } = response;
  const words = textOf(responseData, secrets);
  const said = [String(status), words].filter((text) => text !== "").join(" ");
  // Not the library's error itself: it holds the whole answer.
  const cause = Object.assign(new Error(said), { status, words });
  const reason = reasonOf(status);
  const retryAfterMs = retryAfterMsIn(response.headers.get("retry-after"));
  const sentence = status === 404 ? notFound : sentences[reason];
  return new StepError(reason, `${server}: ${name} ${sentence ?? ""}: ${said}`, {
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const sentences: Partial<Record<StepReason, string>> = {
  Unreachable: "cannot be done now",
  Refused: "is refused",
  Conflict: "was forestalled by somebody else",
};

/** Where it is expected it is no failure. Else the address is wrong, or the way to it, or a realm has gone meanwhile. */
const notFound = "found nothing there (KEYCLOAK_ADMIN_URL says where)";

function reasonOf(status: number): StepReason {
  if (status === 404 || status === 408 || status === 429 || status >= 500) return "Unreachable";
  // Made between our question and this.
  return status === 409 ? "Conflict" : "Refused";
}

/** Keycloak's own words: it has three places for them. */
function textOf(answer: unknown, secrets: readonly string[] = []): string {
  if (typeof answer !== "object" || answer === null) return "";
  const members = answer as Readonly<Record<string, unknown>>;
  const said = ["errorMessage", "error_description", "error"]
    .map((member) => members[member])
    .find((text) => typeof text === "string");
  return said === undefined ? "" : `(${unsaid(said, secrets).slice(0, saidMax)})`;
}

function statusOf(error: unknown): number | undefined {
  return answerOf(error).status;
}

function wordsOf(error: unknown): string {
  return answerOf(error).words ?? "";
}

/** What is kept of an answer; of the library's own error as much. */
function answerOf(error: unknown): { readonly status?: number; readonly words?: string } {
  if (error instanceof StepError) return error.cause ?? {};
  if (!isAnswered(error)) return {};
  return { status: error.response.status, words: textOf(error.responseData) };
}
