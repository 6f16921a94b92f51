// Ends previews whose time is up. The leader alone runs it; what deletion means is the finalizer's business.

import type { Clock, Log, Random } from "@keelson/base";
import { isConflict, refOf, type DynamicObject } from "@keelson/client";
import {
  done,
  isAskedFor,
  requeueAfter,
  runController,
  watches,
  type Caches,
  type ControllerMetrics,
  type Reconciler,
} from "@keelson/controller";
import { timeFromMs } from "@keelson/kube";

import { previewEnvironment, previewKind, type PreviewSpec } from "../kinds/preview-environment.ts";
import { objectReader } from "../kinds/read-object.ts";
import { expiresAtMs, refreshAnnotation } from "./expiry.ts";

/** How often each preview is looked at again, whatever its time: clocks jump, and a refresh may have been in the future. */
const sweepMs = 300_000;
/** A deletion that somebody's write has overtaken is judged again, from what was written. */
const overtakenMs = 1_000;

export interface ExpiryOptions {
  readonly caches: Caches;
  /** Told of each that was deleted. */
  readonly onExpired: (preview: DynamicObject, note: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
}

/** Deletes each preview of every namespace when its time is up, once, until `signal` aborts. */
export async function runExpiry(options: ExpiryOptions, signal: AbortSignal): Promise<void> {
  const { caches, clock, random, log, metrics } = options;
  const previews = caches.resource(previewKind);
  await runController(
    {
      name: "previews-expiry",
      workers: 2,
      sources: [watches(previews.cache, undefined, { when: isAskedFor })],
      reconcile: expireWhenDue(options),
      clock,
      random,
      log,
      metrics,
    },
    signal,
  );
}

/** Looks at previews as the cache has them: an idle cluster is asked nothing. */
function expireWhenDue({ caches, onExpired, clock }: ExpiryOptions): Reconciler {
  const previews = caches.resource(previewKind);
  const expiryOf = expiryReader();
  return async (ref, signal) => {
    const preview = await previews.find(ref, signal);
    if (preview === undefined || preview.metadata.deletionTimestamp !== undefined) return done;
    const dueMs = expiryOf(preview, clock.now());
    if (dueMs === undefined) return done; // Nobody can say when; its status says why.
    const leftMs = dueMs - clock.now();
    if (leftMs > 0) return requeueAfter(Math.min(leftMs, sweepMs));
    const { uid = "", resourceVersion = "" } = preview.metadata;
    try {
      // Of this version: a refresh that we have not seen yet must not be lost.
      const preconditions = { uid, resourceVersion };
      await previews.delete({ ...refOf(preview), preconditions }, signal);
    } catch (error) {
      if (isConflict(error)) return requeueAfter(overtakenMs);
      throw error;
    }
    onExpired(preview, `its time was up at ${timeFromMs(dueMs)}`);
    return done;
  };
}

/** When a preview expires; undefined for one whose spec cannot be. */
export function expiryReader(): (preview: DynamicObject, nowMs: number) => number | undefined {
  const read = objectReader(previewEnvironment);
  return (preview, nowMs) => {
    const { object, problems } = read(preview);
    const { creationTimestamp, annotations = {} } = preview.metadata;
    if (problems.length > 0 || typeof creationTimestamp !== "string") return undefined;
    const { ttl } = object["spec"] as unknown as PreviewSpec;
    return expiresAtMs({ creationTimestamp, refresh: annotations[refreshAnnotation], ttl }, nowMs);
  };
}
