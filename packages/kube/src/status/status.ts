import type { StatusReason } from "./reason.ts";

/** One thing that was wrong. */
export interface StatusCause {
  /** Serialised as `reason`. */
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** What the failure is about. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural of a resource, or a kind where the failure is `Invalid`. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The answer to a request that is not an object: a v1 `Status`, keyed as on the wire. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** A failure that has its answer: the Status says it all. */
export class StatusError extends Error {
  readonly code = "KUBE_STATUS";
  readonly status: Status;

  constructor(status: Status, options: ErrorOptions = {}) {
    super(status.message ?? status.reason ?? "failure", options);
    this.name = "StatusError";
    this.status = status;
  }
}

/** A group and the plural of a resource in it; the core group is empty. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A group and a kind in it; the core group is empty. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `deployments.apps`, and `pods` for the core group. */
export function printGroupResource({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** `Deployment.apps`, and `Pod` for the core group. */
export function printGroupKind({ group, kind }: GroupKind): string {
  return group === "" ? kind : `${kind}.${group}`;
}
