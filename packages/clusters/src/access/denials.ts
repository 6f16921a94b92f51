// Who was turned away: recorded off the path of requests, so that whoever is turned away costs nobody else anything.

import { isCancellation, untilAbort, type Clock, type JsonObject, type Log } from "@keelson/base";
import { isTransient, type Database } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { ClustersMetrics } from "../metrics.ts";
import { insertDenials, type Denial } from "../sql/audit.ts";

/** How many wait to be recorded; those beyond are dropped and counted. */
const waitingMax = 1_000;

/** How long the first of a batch waits for others. */
const gatherMs = 100;

/** How long to wait after the database could not be reached. */
const retryMs = 1_000;

export interface DenialsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ClustersMetrics;
}

export class Denials {
  readonly #options: DenialsOptions;
  #waiting: Denial[] = [];
  #wake: () => void = () => {};

  constructor(options: DenialsOptions) {
    this.#options = options;
  }

  /** Remembers a denial; it is in the audit soon after. */
  add(denial: {
    readonly actor: string;
    readonly kind: KindName | null;
    readonly resourceId: string | null;
    readonly data: JsonObject;
  }): void {
    const { clock, metrics } = this.#options;
    if (this.#waiting.length >= waitingMax) {
      metrics.denials.add({ result: "dropped" });
      return;
    }
    this.#waiting.push({ ...denial, at: new Date(clock.now()) });
    this.#wake();
  }

  /** Records until `signal`, and then what is left. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#waiting.length === 0) await this.#called(signal);
        await this.#options.clock.sleep(gatherMs, signal);
        await this.flush(signal);
      } catch (error) {
        if (isCancellation(error, signal)) break;
        if (!isTransient(error)) throw error;
        this.#options.log.warn({ error }, "denials are not recorded yet");
        await this.#options.clock.sleep(retryMs, signal).catch(() => {});
      }
    }
    await this.flush(new AbortController().signal).catch(() => {});
  }

  /** Records what is waiting. */
  async flush(signal: AbortSignal): Promise<void> {
    const batch = this.#waiting.slice(0, waitingMax);
    if (batch.length === 0) return;
    await this.#options.database.run(insertDenials, batch, signal);
    this.#waiting = this.#waiting.slice(batch.length);
    this.#options.metrics.denials.add({ result: "recorded" }, batch.length);
  }

  async #called(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    try {
      await untilAbort(promise, signal);
    } finally {
      this.#wake = () => {};
    }
  }
}
