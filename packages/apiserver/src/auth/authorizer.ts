// Whether a caller may do what it asks for.

import type { User } from "./user.ts";

/** What somebody wants to do: to a resource, or to a path that is none. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly isResource: true;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, and special ones such as `impersonate`. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty at the cluster scope, and for all namespaces. */
  readonly namespace: string;
  /** Empty where the request names no object. */
  readonly name: string;
}

export interface PathAttributes {
  readonly isResource: false;
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly isAllowed: boolean;
  /** Why, as access reviews show it; may be empty. */
  readonly reason: string;
  /** What went wrong while judging, if anything did. */
  readonly evaluationError?: string;
}

/** Judges. Answers at once where it can: a promise costs every request. */
export interface Authorizer {
  authorize(user: User, attributes: Attributes, signal: AbortSignal): Decision | Promise<Decision>;
}
