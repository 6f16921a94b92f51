// Why an attempt failed, in the words of the contract: something about the resource, or about its target.

import {
  BadKubeconfig,
  ClientBusy,
  ConnectionFailed,
  DeadlineExceeded,
  GroupUnavailable,
  retryAfterMsOf,
  UnexpectedAnswer,
  UnknownKind,
} from "@keelson/client";
import { StatusError } from "@keelson/kube";

export type ErrorClass =
  | "invalid"
  | "immutable"
  | "forbidden"
  | "conflict"
  | "no-kind"
  | "no-namespace"
  | "throttled"
  | "server"
  | "timeout"
  | "internal";

/** What a failed attempt leaves behind. */
export interface ResourceFailure {
  readonly about: "resource";
  readonly errorClass: ErrorClass;
  readonly message: string;
  readonly httpStatus: number | null;
  /** How long the server wants to be left alone. */
  readonly afterMs: number | undefined;
}

/** The cluster cannot be reached at all, or does not know us: no attempt of any resource counts. */
export interface TargetFailure {
  readonly about: "target";
  readonly reason: "unreachable" | "unauthorized";
  readonly message: string;
}

/** A target's failure, as its row keeps it. */
export function troubleText({ reason, message }: TargetFailure): string {
  return `${reason}: ${message}`;
}

/** What such a text tells; one of another form is about a way that nobody could even try. */
export function troubleOf(text: string): Pick<TargetFailure, "reason" | "message"> {
  for (const reason of ["unreachable", "unauthorized"] as const) {
    const start = `${reason}: `;
    if (text.startsWith(start)) return { reason, message: text.slice(start.length) };
  }
  return { reason: "unreachable", message: text };
}

/** The kind lives in namespaces and the resource names none, or the other way round. */
export class WrongScope extends Error {
  readonly code = "WRONG_SCOPE";
  override readonly name = "WrongScope";
}

export type Failure = ResourceFailure | TargetFailure;

export function failureOf(error: unknown): Failure {
  if (error instanceof StatusError) return ofStatus(error);
  const message = messageOf(error);
  if (error instanceof ConnectionFailed) return { about: "target", reason: "unreachable", message };
  // A plugin fails, a file is missing: nothing can be sent in anybody's name.
  if (error instanceof BadKubeconfig) return { about: "target", reason: "unauthorized", message };
  if (error instanceof WrongScope) return ofResource("invalid", message);
  if (error instanceof UnknownKind) return ofResource("no-kind", message);
  if (error instanceof DeadlineExceeded) return ofResource("timeout", message);
  if (error instanceof ClientBusy) return ofResource("throttled", message);
  // Who serves its group does not answer: that its kind is not served nobody has said.
  if (error instanceof GroupUnavailable) return ofResource("server", message);
  if (error instanceof UnexpectedAnswer) return ofResource("server", message);
  return ofResource("internal", message);
}

function ofStatus(error: StatusError): Failure {
  const { status, message } = error;
  const { code, details } = status;
  const afterMs = retryAfterMsOf(error);
  const failed = (errorClass: ErrorClass): ResourceFailure => ({
    ...ofResource(errorClass, message),
    httpStatus: code,
    afterMs,
  });
  if (code === 401) return { about: "target", reason: "unauthorized", message };
  if (code === 403) {
    // A namespace that is being deleted takes nothing new; the next one of its name will.
    const isEnding = details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
    return failed(isEnding === true ? "no-namespace" : "forbidden");
  }
  if (code === 404) return failed(details?.kind === "namespaces" ? "no-namespace" : "no-kind");
  if (code === 409) return failed("conflict");
  if (code === 422) {
    // What is wrong besides would be wrong in a new object too: nothing is deleted for such a one.
    const reasons = details?.causes?.map((cause) => cause.message ?? "") ?? [];
    const said = reasons.length > 0 ? reasons : [message];
    return failed(said.every(isAboutChange) ? "immutable" : "invalid");
  }
  if (code === 429) return failed("throttled");
  if (code === 408 || code === 504) return failed("timeout");
  const isAboutObject = code < 500 || (code === 500 && isAboutShape(message));
  return failed(isAboutObject ? "invalid" : "server");
}

/** Kubernetes answers an apply whose fields do not fit their types with 500, and says what does not fit. */
function isAboutShape(message: string): boolean {
  return /^failed to (?:create typed patch object|convert new object) \(/.test(message);
}

/** The words in which the kinds refuse to be changed. What is quoted is a value, and may hold any words. */
function isAboutChange(reason: string): boolean {
  return /\bis immutable\b|cannot change roleRef|may not be changed|may not change|updates to .* (?:are|is) forbidden|Forbidden: .*(?:updates to|may not (?:be )?(?:add|change|update))/.test(
    reason.replace(/"(?:[^"\\]|\\.)*"/g, '""'),
  );
}

function ofResource(errorClass: ErrorClass, message: string): ResourceFailure {
  return { about: "resource", errorClass, message, httpStatus: null, afterMs: undefined };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "something that is no error was thrown";
}
