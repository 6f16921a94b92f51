// The worker: serves every target that it can reach, each by loops of its own, and follows the table of targets.

import {
  Backoff,
  isCancellation,
  TaskScope,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import { runOnWake, type Database, type Wakeups } from "@keelson/database";
import { markStale, readServed, type ServedRow } from "../sql/served-targets.ts";
import type { TargetClients } from "../targets/target-clients.ts";
import { findWaitingClusters } from "../sql/waiting.ts";
import { waitingChannel, workChannel, type WorkBell } from "../work-bell.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { serveTarget, type TargetLimitsOfWorker } from "./serve-target.ts";
import { WorkSignal } from "./work-signal.ts";

export interface FleetWorkerOptions {
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly bell: WorkBell;
  readonly clients: TargetClients;
  /** Whether this process reaches a target without a credential by itself: its own server, or the cluster that it runs in. */
  readonly isOwn: (clusterId: string) => boolean;
  /** The only cluster that is served; undefined: all that can be. */
  readonly onlyCluster: string | undefined;
  /** Who claims and watches: a name that no other process has. */
  readonly owner: string;
  readonly limits: WorkerLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export interface WorkerLimits extends TargetLimitsOfWorker {
  /** The safety net while wake-ups arrive, and the interval while they do not. */
  readonly pollMs: number;
  readonly deafPollMs: number;
  /** After so long without a contact nothing is known of a target. */
  readonly staleMs: number;
}

interface Served {
  /** Another means: end it, and begin anew. */
  readonly version: string;
  readonly work: WorkSignal;
  readonly watch: WorkSignal;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** The newest resource that its watcher was told of. */
  lastId: number;
}

/** How often it is looked for targets that nobody has been in contact with. */
const staleEveryMs = 10_000;

/**
 * One question to the database tells on each wake-up which targets there are and which of them have work: however many
 * there are, a write wakes the loops of its own target alone. What goes wrong with one target stays with it.
 */
export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  readonly #served = new Map<string, Served>();
  /** Loops of targets that are no more, until they have ended. */
  readonly #ending = new Map<string, Promise<void>>();
  #nextWake: Disposable | undefined;
  #allWatchedMs = Number.NEGATIVE_INFINITY;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
  }

  /** Runs until `signal`; then what is under way is finished and recorded, and every lease is given back. */
  async run(signal: AbortSignal): Promise<void> {
    const { wakeups, limits, clock, random, log } = this.#options;
    const { pollMs, deafPollMs } = limits;
    using subscription = wakeups.subscribe(workChannel, { pollMs, deafPollMs });
    await using scope = new TaskScope(signal);
    scope.spawn("stale targets", (within) => this.#markStale(within));
    scope.spawn("waiting rows", (within) => this.#tellOfWaiting(within));
    try {
      await runOnWake(
        { name: "targets", subscription, clock, random, log },
        (within) => this.#follow(within),
        signal,
      );
    } finally {
      this.#nextWake?.[Symbol.dispose]();
      for (const { stop } of this.#served.values()) stop.abort();
      await Promise.all([...this.#served.values()].map(({ ended }) => ended));
      await Promise.all(this.#ending.values());
    }
  }

  /** Begins and ends loops as the table says, and wakes those that have something to do. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { database, metrics, clock, clients } = this.#options;
    const begunMs = clock.monotonic();
    const onlyCluster = this.#options.onlyCluster ?? null;
    const rows = await database.run(readServed, { onlyCluster }, signal);
    metrics.pollSeconds.observe((clock.monotonic() - begunMs) / 1000);
    const mine = new Map(
      rows.filter((row) => this.#serves(row)).map((row) => [row.cluster_id, row]),
    );
    for (const [clusterId, { version, stop, ended }] of this.#served) {
      const row = mine.get(clusterId);
      if (row !== undefined && versionOf(row) === version) continue;
      stop.abort();
      if (row !== undefined) continue;
      this.#served.delete(clusterId);
      this.#ending.set(
        clusterId,
        ended.then(() => void this.#ending.delete(clusterId)),
      );
      clients.forget(clusterId);
    }
    for (const row of mine.values()) this.#begin(row);
    this.#wakeWhenDue([...mine.values()]);
  }

  #serves({ cluster_id: clusterId, in_process: inProcess, agent }: ServedRow): boolean {
    return inProcess || agent ? this.#options.isOwn(clusterId) : true;
  }

  /** The loops of a target, once those before them have ended: they give back what these would have taken. */
  #begin(row: ServedRow): void {
    const { cluster_id: clusterId } = row;
    const version = versionOf(row);
    const before = this.#served.get(clusterId);
    if (before?.version === version) return;
    const [work, watch] = [new WorkSignal(), new WorkSignal()];
    const stop = new AbortController();
    const ended = (before?.ended ?? this.#ending.get(clusterId) ?? Promise.resolve()).then(() =>
      this.#serve(row, { work, watch }, stop.signal),
    );
    this.#served.set(clusterId, { version, work, watch, stop, ended, lastId: 0 });
  }

  /** Again and again, whatever happens to it: nobody restarts us because of one target. */
  async #serve(
    { cluster_id: clusterId, paused }: ServedRow,
    signals: { readonly work: WorkSignal; readonly watch: WorkSignal },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, random, log } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000, random });
    while (!signal.aborted) {
      try {
        await serveTarget({ ...this.#options, clusterId, paused, ...signals }, signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        log.error({ error, cluster_id: clusterId }, "serving a target failed, beginning again");
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  /** Wakes who has work now, and comes back when somebody will: nobody rings then. */
  #wakeWhenDue(rows: readonly ServedRow[]): void {
    const { clock, wakeups, limits } = this.#options;
    let nextMs = limits.pollMs;
    // What is new and due nowhere is looked for as often as for anything else that nobody rang for.
    const nowMs = clock.monotonic();
    const isTimeForAll = nowMs - this.#allWatchedMs >= limits.pollMs / 2;
    if (isTimeForAll) this.#allWatchedMs = nowMs;
    for (const { cluster_id: clusterId, wait_ms: waitMs, last_id: lastId } of rows) {
      const served = this.#served.get(clusterId);
      if (served === undefined) continue;
      if (waitMs === 0) served.work.wake();
      else if (waitMs !== null) nextMs = Math.min(nextMs, waitMs);
      const isNew = (lastId ?? 0) > served.lastId;
      if (isNew) served.lastId = lastId ?? 0;
      if (isNew || isTimeForAll) served.watch.wake();
    }
    this.#nextWake?.[Symbol.dispose]();
    this.#nextWake =
      nextMs < limits.pollMs
        ? clock.after(Math.max(nextMs, 1), () => wakeups.wakeHere(workChannel))
        : undefined;
  }

  /** Some row has begun to wait for something that whoever watches its target can see; that may be us. */
  async #tellOfWaiting(signal: AbortSignal): Promise<void> {
    const { wakeups, limits, database, clock, random, log } = this.#options;
    // While nobody hears others, their rows try again by themselves.
    const { pollMs } = limits;
    using subscription = wakeups.subscribe(waitingChannel, { pollMs, deafPollMs: pollMs });
    await runOnWake(
      { name: "waiting rows", subscription, clock, random, log },
      async (within) => {
        for (const row of await database.run(findWaitingClusters, undefined, within)) {
          this.#served.get(row.cluster_id)?.watch.wake();
        }
      },
      signal,
    );
  }

  async #markStale(signal: AbortSignal): Promise<void> {
    const { database, clock, log, limits } = this.#options;
    const { staleMs } = limits;
    for (;;) {
      await clock.sleep(Math.min(staleEveryMs, staleMs), signal);
      await database.run(markStale, { staleMs }, signal).catch((error: unknown) => {
        if (!isCancellation(error, signal)) log.warn({ error }, "stale targets were not marked");
      });
    }
  }
}

function versionOf({ version, in_process, agent, paused }: ServedRow): string {
  return JSON.stringify([version, in_process, agent, paused]);
}
