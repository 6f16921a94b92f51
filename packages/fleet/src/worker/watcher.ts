// Watches a target while nobody else does: each kind in use, all of it feeding the observer.

import {
  Backoff,
  isCancellation,
  TaskScope,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import type { Client } from "@keelson/client";
import { isTransient, type Database } from "@keelson/database";
import { holdTarget, leaveTarget } from "../sql/served-targets.ts";
import type { WorkBell } from "../work-bell.ts";
import { Arrivals } from "./arrivals.ts";
import { Graves } from "./graves.ts";
import { KindWatch } from "./kind-watch.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { Observer, type Seen } from "./observer.ts";
import type { TargetContact } from "./target-contact.ts";
import { WatchedRows, type RowPlace, type WatchedKind } from "./watched-rows.ts";
import type { WorkSignal } from "./work-signal.ts";

export interface WatcherOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly contact: TargetContact;
  readonly database: Database;
  /** Wakes when there may be new rows. */
  readonly watch: WorkSignal;
  readonly bell: WorkBell;
  readonly owner: string;
  readonly limits: WatcherLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export interface WatcherLimits {
  readonly leaseMs: number;
  /** How often it is asked which kinds are in use. */
  readonly kindsMs?: number;
}

const usualKindsMs = 600_000;
/** The same while some kind is not served: another version of it may be meant by now. */
const unservedKindsMs = 30_000;

/** Watches while it holds the target's lease; one replica does. Runs until `signal`. */
export async function watchTarget(options: WatcherOptions, signal: AbortSignal): Promise<void> {
  const { clusterId, owner, database, clock, log, limits } = options;
  while (!signal.aborted) {
    try {
      const { fence, leftMs } = await hold(options, signal);
      if (fence !== undefined) await watchWhileHeld(options, fence, signal);
      // Of one that dies nobody hears: its lease is asked for when it ends.
      else await clock.sleep(Math.min(leftMs + 50, limits.leaseMs / 3), signal);
    } catch (error) {
      if (isCancellation(error, signal)) break;
      log.warn({ error, cluster_id: clusterId }, "watching a target failed, beginning again");
      await clock.sleep(1_000, signal).catch(() => undefined);
    }
  }
  await database.run(leaveTarget, { clusterId, owner }, uncancelled).catch(() => undefined);
}

const uncancelled = new AbortController().signal;

/** The lease is gone: another may be watching already. */
class LeaseGone extends Error {
  readonly code = "LEASE_GONE";
  override readonly name = "LeaseGone";
}

async function hold(
  { database, clusterId, owner, limits }: WatcherOptions,
  signal: AbortSignal,
): Promise<{ readonly fence: string | undefined; readonly leftMs: number }> {
  const { leaseMs } = limits;
  const [row] = await database.run(holdTarget, { clusterId, owner, leaseMs }, signal);
  return { fence: row?.fence ?? undefined, leftMs: row?.left_ms ?? leaseMs };
}

async function watchWhileHeld(
  options: WatcherOptions,
  fence: string,
  signal: AbortSignal,
): Promise<void> {
  const { database, bell, clock, log, contact, metrics } = options;
  const rows = new WatchedRows();
  const graves = new Graves(options);
  const onGone = (id: number, seen: Seen): void => {
    rows.forget(id);
    if (seen.type === "present") graves.suspect(seen.object);
  };
  const observer = new Observer({ database, bell, clock, log, metrics, onGone });
  contact.isWatching = true;
  try {
    await using scope = new TaskScope(signal);
    scope.spawn("lease", (within) => keepLease(options, fence, within));
    scope.spawn("observer", (within) => observer.run(fence, within));
    scope.spawn("kinds", (within) =>
      followKinds(options, { rows, observer, graves, scope }, within),
    );
    await scope.join();
  } finally {
    contact.isWatching = false;
  }
}

/** A database that is away for a moment costs nothing as long as the lease lasts, by our own clock. */
async function keepLease(
  options: WatcherOptions,
  fence: string,
  signal: AbortSignal,
): Promise<void> {
  const { clock, limits, clusterId } = options;
  let endMs = clock.monotonic() + limits.leaseMs;
  for (;;) {
    await clock.sleep(limits.leaseMs / 3, signal);
    const askedMs = clock.monotonic();
    try {
      const held = await hold(options, signal);
      if (held.fence !== fence) throw new LeaseGone(`${clusterId} is watched by another`);
      endMs = askedMs + limits.leaseMs;
    } catch (error) {
      if (!isTransient(error) || clock.monotonic() >= endMs) throw error;
    }
  }
}

/**
 * After how long it is looked again at what nobody rings for: deletions under way elsewhere, what came back and stays,
 * and rows whose ids were handed out before those of others that are known.
 */
const lookAgainMs = { initialMs: 1_000, maxMs: 30_000 };

/**
 * Begins to watch a kind when a row wants one of it, ends that when none does any more, and looks at whatever is left over
 * whenever rows may be new.
 */
async function followKinds(
  options: WatcherOptions,
  parts: {
    readonly rows: WatchedRows;
    readonly observer: Observer;
    readonly graves: Graves;
    readonly scope: TaskScope;
  },
  signal: AbortSignal,
): Promise<void> {
  const { database, clusterId, watch, bell, clock, random, log, limits } = options;
  const { rows, observer, graves } = parts;
  const { kindsMs = usualKindsMs } = limits;
  let kindsAskedMs = Number.NEGATIVE_INFINITY;
  const unserved = new Set<string>();
  const onUnknown = ({ id }: WatchedKind): void => void unserved.add(id);
  const watches = new Map<string, KindWatch>();
  const onArrival = (kind?: string): void => {
    if (kind !== undefined) watches.get(kind)?.tryNow();
    watch.wake();
  };
  const arrivals = new Arrivals({ ...options, ...parts, onArrival });
  const onNobodys = graves.suspect.bind(graves);
  const strangers = new Set<number>();
  const onStranger = (id: number): void => {
    strangers.add(id);
    watch.wake();
  };
  const pauses = new Backoff({ ...lookAgainMs, random });
  const added: RowPlace[] = [];
  let again: Disposable | undefined;
  using _again = { [Symbol.dispose]: () => again?.[Symbol.dispose]() };
  watch.wake(); // Whatever it has told before, it has told another.
  for (;;) {
    await watch.wait(signal);
    const ids = [...strangers];
    let isDone: boolean;
    try {
      added.push(...(await rows.refresh(database, { clusterId, ids }, signal)));
      const nowMs = clock.monotonic();
      const everyMs = unserved.size > 0 ? Math.min(unservedKindsMs, kindsMs) : kindsMs;
      if (nowMs - kindsAskedMs >= everyMs) {
        await rows.refreshKinds(database, { clusterId, unserved }, signal);
        kindsAskedMs = nowMs;
        unserved.clear();
      }
      if (await arrivals.announce(signal)) bell.ring();
      isDone = await graves.close(signal);
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn({ error, cluster_id: clusterId }, "rows could not be read, trying again");
      await clock.sleep(1_000, signal);
      watch.wake();
      continue;
    }
    const asked = new Set(ids);
    for (const id of ids) strangers.delete(id);
    const addedKeys = Map.groupBy(added.splice(0), ({ kind }) => kind);
    for (const [kind, kindWatch] of watches) {
      const keys = (addedKeys.get(kind) ?? []).map(({ key }) => key);
      kindWatch.rowsChanged(asked, keys);
    }
    if (observer.lookAgain() || !rows.isSettled) isDone = false;
    if (isDone) pauses.reset();
    again?.[Symbol.dispose]();
    again = isDone ? undefined : clock.after(pauses.next(), () => watch.wake());
    const kinds = new Map(rows.kinds.map((kind) => [kind.id, kind]));
    for (const [id, kindWatch] of watches) {
      if (kinds.get(id)?.apiVersion === kindWatch.kind.apiVersion) continue;
      kindWatch.stop();
      watches.delete(id);
    }
    for (const kind of kinds.values()) {
      if (watches.has(kind.id)) continue;
      const hooks = { onStranger, onNobodys, onUnknown };
      const kindWatch = new KindWatch({ ...options, ...parts, kind, ...hooks });
      watches.set(kind.id, kindWatch);
      kindWatch.start();
    }
  }
}
