import type { Owned, OwnedKind } from "../kinds/status.ts";

/**
 * What an object has made outside the cluster, as its `status.owned` says: written before something is made, so that
 * nothing is lost by a crash, and the one place that deletion works from.
 */
export interface Ledger {
  stateOf(kind: OwnedKind, name: string): Owned["state"] | undefined;
  /** Everything of a kind. */
  all(kind: OwnedKind): readonly Owned[];
  /** Resolves once it is in the status. */
  record(owned: Owned, signal: AbortSignal): Promise<void>;
  /** Resolves once it is out of the status. */
  forget(kind: OwnedKind, name: string, signal: AbortSignal): Promise<void>;
}
