import type { ObjectRef } from "@keelson/client";

/** How a run ended that did not fail. */
export type Result =
  | { readonly type: "done" }
  | { readonly type: "requeueAfter"; readonly afterMs: number };

/** Nothing is left to do until something changes. */
export const done: Result = { type: "done" };

/** Look again after so many milliseconds, or sooner if something changes. */
export function requeueAfter(afterMs: number): Result {
  return { type: "requeueAfter", afterMs };
}

/**
 * Makes one object so. It is told which object, never what happened to it, and must look for itself; the object
 * may be gone. At most one call for each object at a time (C9). To throw means: again later, with growing waits,
 * for ever.
 */
export type Reconciler = (ref: ObjectRef, signal: AbortSignal) => Promise<Result>;
