// One look at an object of either kind: it is seen to, or taken away. What its steps come to they say themselves; what goes
// wrong around them is said here, and tried again.

import { keyOf, refOf, type DynamicObject, type ObjectKind } from "@keelson/client";
import {
  done,
  requeueAfter,
  type CachedResource,
  type Reconciler,
  type Result,
} from "@keelson/controller";

import { failureOf, type Failure } from "../steps/failure.ts";
import { laneKey } from "./calls.ts";
import { ObjectGone, type ObjectStatus } from "./object-status.ts";
import type { OperatorParts } from "./operator-parts.ts";
import { failedAgain } from "./retry.ts";
import { cleanupFailure } from "./run-step.ts";
import { finalizer, type SeenObjects } from "./seen-objects.ts";

/** An object as it was last seen, and what is said of it. Ledger and status are one, so there is one at a time. */
export interface Visit {
  object: DynamicObject;
  status: ObjectStatus;
}

export interface VisitsOptions {
  readonly parts: OperatorParts;
  readonly kind: ObjectKind;
  readonly resource: CachedResource;
  readonly seen: SeenObjects;
  /** Sees to one that shall be there. */
  readonly see: (visit: Visit, signal: AbortSignal) => Promise<Result>;
  /** Takes away what one has that is being deleted; undefined once nothing of it is left. */
  readonly end: (visit: Visit, signal: AbortSignal) => Promise<Result | undefined>;
}

export function visits(options: VisitsOptions): Reconciler {
  const { parts, kind, resource, seen, see } = options;
  return async (ref, signal) => {
    const key = laneKey(kind, ref);
    using _run = parts.lanes.begin(key);
    const object = await resource.find(ref, signal);
    if (object === undefined) {
      seen.forget(keyOf(ref));
      return done;
    }
    const isLeaving = object.metadata.deletionTimestamp !== undefined;
    const memory = seen.memoryOf(object);
    const visit: Visit = { object, status: seen.statusOf(object) };
    try {
      const result = await (isLeaving ? leave(options, visit, signal) : see(visit, signal));
      memory.failed = undefined;
      return result;
    } catch (error) {
      signal.throwIfAborted();
      // Its end, or another of its name, is on the way to us.
      if (error instanceof ObjectGone) return done;
      const { generation } = object.metadata;
      // What asks for something else begins anew.
      const last = memory.failed?.generation === generation ? memory.failed : undefined;
      memory.failed = { ...failedAgain(parts, last, failureOf(error)), generation };
      const { attempts, untilMs } = memory.failed;
      const waitMs = untilMs - parts.clock.monotonic();
      parts.log.warn({ object: key, attempts, waitMs, error }, "an object could not be seen to");
      const failure = isLeaving ? cleanupFailure(error) : failureOf(error);
      await sayFailure(options, { visit, failure, attempts, isLeaving }, signal);
      return requeueAfter(waitMs);
    }
  };
}

/** The finalizer goes last. */
async function leave(
  { parts, resource, seen, end }: VisitsOptions,
  visit: Visit,
  signal: AbortSignal,
): Promise<Result> {
  const { finalizers = [], name = "" } = visit.object.metadata;
  if (!finalizers.includes(finalizer)) return done;
  const result = await end(visit, signal);
  if (result !== undefined) return result;
  await resource.removeFinalizer(visit.object, finalizer, signal);
  seen.forget(keyOf(refOf(visit.object)));
  parts.happenings.tell(visit.object, "CleanedUp", `nothing of ${name} is left`);
  return done;
}

async function sayFailure(
  { parts, seen }: VisitsOptions,
  failed: {
    readonly visit: Visit;
    readonly failure: Failure;
    readonly attempts: number;
    readonly isLeaving: boolean;
  },
  signal: AbortSignal,
): Promise<void> {
  const { visit, failure, attempts, isLeaving } = failed;
  // Where it is the status that could not be written, there is nothing else to say: the next pass says it all.
  if (visit.status.isBehind) return;
  const { reason, message } = failure;
  const unready = { status: "False", reason, message } as const;
  try {
    // What was found before stands, unless somebody else has its place.
    const keepsFindings = reason !== "Conflict";
    const told = { unready, failedAttempts: attempts, isLeaving, keepsFindings };
    await seen.sayUnready(visit, told, signal);
  } catch (cause) {
    signal.throwIfAborted();
    // It is tried again anyhow, and said then.
    parts.log.warn({ error: cause }, "why an object waits could not be said");
    return;
  }
  const isTold = reason === "Conflict" || reason === "CleanupFailed";
  parts.happenings.tell(visit.object, isTold ? reason : "RetryBackoff", message);
}
