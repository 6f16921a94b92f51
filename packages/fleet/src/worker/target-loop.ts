// The work of one target: claims what is due, so many at a time, for as long as the target can be reached.

import { Backoff, isCancellation, type Clock, type Log, type Random } from "@keelson/base";
import type { Client } from "@keelson/client";
import { runOnWake, type Database, type Wakeups } from "@keelson/database";
import { claimWork, nextDue, type ClaimRow } from "../sql/work.ts";
import { markTarget } from "../sql/targets.ts";
import { eventsWrittenChannel, workChannel } from "../work-bell.ts";
import type { Claim, Delivery } from "./delivery.ts";
import { failureOf, type TargetFailure } from "./failure.ts";

export interface TargetLoopOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly delivery: Delivery;
  readonly database: Database;
  readonly wakeups: Wakeups;
  /** Who claims: a name that no other process has. */
  readonly owner: string;
  readonly limits: TargetLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface TargetLimits {
  /** How many calls may be under way at once. */
  readonly inFlightMax: number;
  readonly leaseMs: number;
  /** The safety net while wake-ups arrive, and the interval while they do not. */
  readonly pollMs: number;
  readonly deafPollMs: number;
}

/** While a target was in contact, its health is written no more often than this. */
const contactEveryMs = 10_000;

/** Namespaces and definitions go first: others of the same batch may be waiting for them. */
const firstKinds = ["Namespace", "CustomResourceDefinition"];

export class TargetLoop {
  readonly #options: TargetLoopOptions;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #probes: Backoff;
  #trouble: TargetFailure | undefined;
  #nextWake: Disposable | undefined;
  #contactToldMs = Number.NEGATIVE_INFINITY;

  constructor(options: TargetLoopOptions) {
    this.#options = options;
    this.#probes = new Backoff({ initialMs: 500, maxMs: 30_000, random: options.random });
  }

  /** Runs until `signal`; then no more is claimed, and what is under way is finished. */
  async run(signal: AbortSignal): Promise<void> {
    const { clusterId, wakeups, limits, clock, random, log } = this.#options;
    const { pollMs, deafPollMs } = limits;
    using subscription = wakeups.subscribe(workChannel, { pollMs, deafPollMs });
    const name = `work of ${clusterId}`;
    try {
      await runOnWake(
        { name, subscription, clock, random, log },
        (within) => this.#work(within),
        signal,
      );
    } finally {
      this.#nextWake?.[Symbol.dispose]();
      await Promise.allSettled(this.#inFlight);
    }
  }

  /** Until nothing is due that could be begun now. What is under way is not waited for: one that hangs keeps nobody. */
  async #work(signal: AbortSignal): Promise<void> {
    const { inFlightMax } = this.#options.limits;
    for (;;) {
      while (this.#inFlight.size >= inFlightMax) await Promise.race(this.#inFlight);
      if (this.#trouble !== undefined) await this.#waitForTarget(signal);
      const claims = await this.#claim(signal);
      if (claims.length === 0) break;
      for (const claim of claims) this.#begin(claim, signal);
    }
    await this.#wakeWhenDue(signal);
  }

  async #claim(signal: AbortSignal): Promise<readonly Claim[]> {
    const { database, clusterId, owner, limits } = this.#options;
    const limit = limits.inFlightMax - this.#inFlight.size;
    const { leaseMs } = limits;
    const rows = await database.run(claimWork, { clusterId, owner, leaseMs, limit }, signal);
    return inOrder(rows).map(({ resource_id: id, fence, requests, attempts }) => {
      return { id, fence, requests, attempts };
    });
  }

  /** A claim is carried out to its end, also while we stop: it would be due again only after its lease. */
  #begin(claim: Claim, signal: AbortSignal): void {
    const { delivery, log, clusterId, wakeups } = this.#options;
    const running = delivery
      .carryOut(claim, uncancelled)
      .then(({ trouble, isLeft }) => {
        if (trouble === undefined) this.#inContact(signal);
        else this.#trouble ??= trouble;
        // Whoever rang meanwhile found it claimed, and rings no more; and what is due later needs its timer.
        if (isLeft) wakeups.wakeHere(workChannel);
        wakeups.wakeHere(eventsWrittenChannel);
      })
      .catch((error: unknown) => {
        // The database was away, most likely. The claim runs out, and somebody does it again.
        log.warn(
          { error, resource_id: claim.id, cluster_id: clusterId },
          "a claim was not settled",
        );
      })
      .finally(() => this.#inFlight.delete(running));
    this.#inFlight.add(running);
  }

  /** One request at a time asks whether the target is there again; nothing of it is claimed meanwhile. */
  async #waitForTarget(signal: AbortSignal): Promise<void> {
    const { client, clock, clusterId, log } = this.#options;
    const { reason, message } = this.#trouble ?? { reason: "unreachable", message: "" };
    log.warn({ cluster_id: clusterId, reason }, "the target is out of reach");
    await this.#tell("Unreachable", `${reason}: ${message}`, signal);
    for (;;) {
      await clock.sleep(this.#probes.next(), signal);
      try {
        await client.call({ method: "GET", path: "/version", timeoutMs: 5_000 }, signal);
        break;
      } catch (error) {
        if (isCancellation(error, signal)) throw error;
        // It may say no to this path; it has said something.
        if (failureOf(error).about === "resource") break;
      }
    }
    this.#trouble = undefined;
    this.#probes.reset();
    this.#contactToldMs = Number.NEGATIVE_INFINITY;
    log.info({ cluster_id: clusterId }, "the target is there again");
    this.#inContact(signal);
  }

  /** The target has answered. Not awaited by anybody: its health is told as well as may be. */
  #inContact(signal: AbortSignal): void {
    const { clock, log } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs - this.#contactToldMs < contactEveryMs) return;
    this.#contactToldMs = nowMs;
    this.#tell("Healthy", null, signal).catch((error: unknown) => {
      this.#contactToldMs = Number.NEGATIVE_INFINITY;
      if (!isCancellation(error, signal)) log.warn({ error }, "a target's health was not recorded");
    });
  }

  async #tell(
    health: "Healthy" | "Unreachable",
    message: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { database, clusterId } = this.#options;
    await database.run(markTarget, { clusterId, health, message }, signal);
  }

  /** What waits for a later try is due by the clock, and nobody rings then. */
  async #wakeWhenDue(signal: AbortSignal): Promise<void> {
    const { database, clusterId, clock, wakeups, limits } = this.#options;
    const [next] = await database.run(nextDue, clusterId, signal);
    const waitMs = next?.wait_ms;
    if (waitMs === undefined || waitMs === null || waitMs > limits.pollMs) return;
    this.#nextWake?.[Symbol.dispose]();
    this.#nextWake = clock.after(Math.max(waitMs, 1), () => wakeups.wakeHere(workChannel));
  }
}

const uncancelled = new AbortController().signal;

function inOrder(rows: readonly ClaimRow[]): readonly ClaimRow[] {
  const isFirst = ({ kind }: ClaimRow): boolean => firstKinds.includes(kind);
  return [...rows.filter(isFirst), ...rows.filter((row) => !isFirst(row))];
}
