// The work of one target: claims what is due, so many at a time, for as long as the target can be reached.

import { Backoff, type Clock, type Log, type Random } from "@keelson/base";
import { isTransient, runOnWake, type Database, type Subscription } from "@keelson/database";
import { claimWork, releaseClaim, type ClaimRow } from "../sql/work.ts";
import type { WorkBell } from "../work-bell.ts";
import type { Claim, Delivery } from "./delivery.ts";
import type { WorkerMetrics } from "./metrics.ts";
import type { TargetContact } from "./target-contact.ts";

export interface TargetLoopOptions {
  readonly clusterId: string;
  readonly delivery: Delivery;
  readonly contact: TargetContact;
  readonly database: Database;
  /** Wakes when something may be due. */
  readonly subscription: Subscription;
  readonly bell: WorkBell;
  /** Something is left that may be due now or later: when, the table says. */
  readonly onLeft: () => void;
  /** A row waits for something that whoever watches the target can see; or it is gone, and its object may not be. */
  readonly onForWatcher: () => void;
  /** Who claims: a name that no other process has. */
  readonly owner: string;
  readonly limits: TargetLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

export interface TargetLimits {
  /** How many calls may be under way at once. */
  readonly inFlightMax: number;
  readonly leaseMs: number;
}

/** Namespaces and definitions go first: others of the same batch may be waiting for them. */
const firstKinds = ["Namespace", "CustomResourceDefinition"];

/** After how long it is asked who has what seemed to be due. */
const lookAgainMs = 250;

export class TargetLoop {
  readonly #options: TargetLoopOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #lookAgain: Disposable | undefined;

  constructor(options: TargetLoopOptions) {
    this.#options = options;
  }

  /** Runs until `signal`; then no more is claimed, and what is under way is finished. */
  async run(signal: AbortSignal): Promise<void> {
    const { clusterId, subscription, clock, random, log } = this.#options;
    const name = `work of ${clusterId}`;
    try {
      await runOnWake(
        { name, subscription, clock, random, log },
        (within) => this.#work(within),
        signal,
      );
    } finally {
      this.#lookAgain?.[Symbol.dispose]();
      await Promise.allSettled(this.#inFlight);
    }
  }

  /** Until nothing is due that could be begun now. What is under way is not waited for: one that hangs keeps nobody. */
  async #work(signal: AbortSignal): Promise<void> {
    const { limits, contact, clock, onLeft } = this.#options;
    for (let isFirst = true; ; isFirst = false) {
      while (this.#inFlight.size >= limits.inFlightMax) await Promise.race(this.#inFlight);
      if (contact.isLost) await contact.whenThere(signal);
      const claims = await this.#claim(signal);
      if (claims.length === 0) {
        // What is due later needs its timer. If nothing could be had, somebody else was first: should they die, the end
        // of their lease must be known.
        this.#lookAgain?.[Symbol.dispose]();
        this.#lookAgain = clock.after(isFirst ? lookAgainMs : 0, onLeft);
        return;
      }
      const reading = this.#options.delivery.read(claims, uncancelled);
      for (const claim of claims) this.#begin(claim, reading, signal);
    }
  }

  async #claim(signal: AbortSignal): Promise<readonly Claim[]> {
    const { database, clusterId, owner, limits, metrics } = this.#options;
    const limit = limits.inFlightMax - this.#inFlight.size;
    const { leaseMs } = limits;
    const rows = await database.run(claimWork, { clusterId, owner, leaseMs, limit }, signal);
    for (const { waited_seconds: waited } of rows) {
      metrics.convergence.observe({ hop: "claimed" }, waited);
    }
    // New, though one that is newer may have been read before it.
    if (rows.some(({ fence }) => fence === "1")) this.#options.onForWatcher();
    return inOrder(rows).map(({ resource_id: id, fence, requests, attempts }) => {
      return { id, fence, requests, attempts };
    });
  }

  /** A claim is carried out to its end, also while we stop: it would be due again only after its lease. */
  #begin(claim: Claim, reading: ReturnType<Delivery["read"]>, signal: AbortSignal): void {
    const { delivery, contact, bell, clock, log, metrics, clusterId } = this.#options;
    const { onLeft, onForWatcher } = this.#options;
    const begunMs = clock.monotonic();
    const running = reading
      .then((known) => delivery.carryOut(claim, known.get(claim.id), uncancelled))
      .then(({ trouble, isLeft, isForWatcher = false }) => {
        const seconds = (clock.monotonic() - begunMs) / 1000;
        if (trouble !== undefined) contact.lose(trouble);
        else metrics.convergence.observe({ hop: "applied" }, seconds);
        // Whoever rang meanwhile found it claimed, and rings no more; and what is due later needs its timer.
        if (isLeft) onLeft();
        if (isForWatcher) onForWatcher();
        if (isForWatcher && isLeft) bell.ringForWaiting();
        bell.told();
      })
      .catch(async (error: unknown) => {
        log.warn(
          { error, resource_id: claim.id, cluster_id: clusterId },
          "a claim was not settled",
        );
        await this.#giveBack(claim, signal);
        onLeft();
      })
      .finally(() => this.#inFlight.delete(running));
    this.#inFlight.add(running);
  }

  /**
   * The database was away, most likely. As soon as it is there the claim is free, and is carried out again; else it would
   * have to run out first, as it does if we stop meanwhile.
   */
  async #giveBack(claim: Claim, signal: AbortSignal): Promise<void> {
    const { database, clock, random, limits } = this.#options;
    const endMs = clock.monotonic() + limits.leaseMs;
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000, random });
    for (;;) {
      try {
        await database.run(releaseClaim, claim, uncancelled);
        return;
      } catch (error) {
        if (!isTransient(error) || signal.aborted || clock.monotonic() >= endMs) return;
      }
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }
}

const uncancelled = new AbortController().signal;

function inOrder(rows: readonly ClaimRow[]): readonly ClaimRow[] {
  const isFirst = ({ kind }: ClaimRow): boolean => firstKinds.includes(kind);
  return [...rows.filter(isFirst), ...rows.filter((row) => !isFirst(row))];
}
