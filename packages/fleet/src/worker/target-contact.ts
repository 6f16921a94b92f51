// Whether a target is there, as this process sees it; and its health in the table.

import {
  Backoff,
  isCancellation,
  onAbort,
  untilAbort,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import type { Client } from "@keelson/client";
import type { Database } from "@keelson/database";
import { dueAgain, markTarget } from "../sql/served-targets.ts";
import { troubleText, type TargetFailure } from "./failure.ts";
import { probeTarget, type TargetHealth } from "./probe-target.ts";

export interface TargetContactOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly database: Database;
  readonly owner: string;
  /** After so long without a contact nothing is known of a target. */
  readonly limits: { readonly staleMs: number };
  /** The target is there again, and its rows are due. */
  readonly onRecovered: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** While it watches a target, a worker hears of it this often, and tells; more often if it would count as stale. */
const contactMsMax = 10_000;

/**
 * One question at a time, however many found the target out of reach. Nothing is claimed of it meanwhile; once it
 * answers, all that waited is due.
 */
export class TargetContact {
  readonly #options: TargetContactOptions;
  readonly #probes: Backoff;
  #trouble: TargetFailure | undefined;
  #isWatching = false;
  #there = Promise.withResolvers<void>();
  #askNow = Promise.withResolvers<void>();

  constructor(options: TargetContactOptions) {
    this.#options = options;
    this.#probes = new Backoff({ initialMs: 500, maxMs: 30_000, random: options.random });
    this.#there.resolve();
  }

  get isLost(): boolean {
    return this.#trouble !== undefined;
  }

  /** Whoever watches a target keeps its health; others ask only while they cannot reach it. */
  set isWatching(isWatching: boolean) {
    this.#isWatching = isWatching;
    if (isWatching) this.#askNow.resolve();
  }

  /** Somebody found it out of reach. */
  lose(trouble: TargetFailure): void {
    if (this.#trouble !== undefined) return;
    const { log, clusterId: cluster_id } = this.#options;
    log.warn({ cluster_id, reason: trouble.reason }, "the target is out of reach");
    this.#trouble = trouble;
    this.#there = Promise.withResolvers();
    this.#askNow.resolve();
  }

  /** Resolves while the target is there, or once it is again. */
  async whenThere(signal: AbortSignal): Promise<void> {
    await untilAbort(this.#there.promise, signal);
  }

  /** Asks and tells until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, clusterId } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#nextTurn(signal);
        if (this.#trouble !== undefined) await this.#tell(unreachable(this.#trouble), signal);
        if (this.#trouble !== undefined || this.#isWatching) await this.#ask(signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        // The database was away, most likely: the next turn tells.
        log.warn({ error, cluster_id: clusterId }, "a target's health was not recorded");
      }
    }
  }

  /** Now, if somebody has just lost it or begun to watch it; after a growing wait while it is lost; else now and then. */
  async #nextTurn(signal: AbortSignal): Promise<void> {
    const { promise: isTime, resolve } = Promise.withResolvers<void>();
    const { clock, limits } = this.#options;
    const { staleMs } = limits;
    using _timer = clock.after(
      this.#trouble === undefined ? Math.min(contactMsMax, staleMs / 3) : this.#probes.next(),
      resolve,
    );
    using _stop = onAbort(signal, resolve);
    await Promise.race([isTime, this.#askNow.promise]);
    signal.throwIfAborted();
    this.#askNow = Promise.withResolvers();
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const answer = await probeTarget(this.#options.client, signal);
    if ("about" in answer) {
      this.lose(answer);
      await this.#tell(unreachable(answer), signal);
      return;
    }
    if (this.#trouble !== undefined) await this.#recover(signal);
    await this.#tell(answer, signal);
  }

  async #recover(signal: AbortSignal): Promise<void> {
    const { database, clusterId, log, onRecovered } = this.#options;
    await database.run(dueAgain, clusterId, signal);
    this.#trouble = undefined;
    this.#probes.reset();
    this.#there.resolve();
    log.info({ cluster_id: clusterId }, "the target is there again");
    onRecovered();
  }

  async #tell({ health, message }: TargetHealth, signal: AbortSignal): Promise<void> {
    const { database, clusterId, owner } = this.#options;
    await database.run(markTarget, { clusterId, owner, health, message }, signal);
  }
}

function unreachable(failure: TargetFailure): TargetHealth {
  return { health: "Unreachable", message: troubleText(failure) };
}
