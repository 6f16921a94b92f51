// What an aggregated server needs of the cluster that it stands behind. Whoever starts it brings an implementation.

import type { Namespaces } from "../admission/namespace-lifecycle.ts";
import type { Attributes, Decision } from "../auth/authorizer.ts";
import type { User } from "../auth/user.ts";

/** The host gave no answer in time, or one that is none. Whatever depends on it must wait. */
export class HostUnavailable extends Error {
  override readonly name = "HostUnavailable";
  readonly code = "HOST_UNAVAILABLE";
}

/** What the host says of a token. */
export type TokenVerdict =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly refusal: string };

/** The cluster. Every question rejects with `HostUnavailable` where it cannot be answered. */
export interface Host {
  /**
   * The data of its ConfigMap `kube-system/extension-apiserver-authentication`, as last heard: the same object until
   * it changes.
   */
  authentication(): Readonly<Record<string, string>>;
  reviewToken(token: string, signal: AbortSignal): Promise<TokenVerdict>;
  reviewAccess(user: User, attributes: Attributes, signal: AbortSignal): Promise<Decision>;
  readonly namespaces: Namespaces;
  /** Resolves if it answers. */
  ping(signal: AbortSignal): Promise<void>;
}
