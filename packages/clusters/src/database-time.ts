// The time of the database, asked for now and then and counted on by our own clock.

import type { Clock, Log } from "@keelson/base";
import type { Database } from "@keelson/database";
import { readDatabaseTime } from "./sql/schedules.ts";

/** How often it is asked for where no scheduler does it. */
const everyMs = 60_000;

/** How often our two clocks are compared. */
const stepMs = 5_000;

/** By how much they may come apart before the next measure: more is a machine that slept, or a wall clock that was set anew. */
const apartMaxMs = 2_000;

/**
 * A clock that follows the database's: replicas whose machines disagree judge alike. Until it is measured for the
 * first time it says what our own clock says.
 */
export class DatabaseTime {
  readonly #database: Database;
  readonly #clock: Clock;
  /** What it was when our own monotonic clock stood at zero: a wall clock that is set anew must not age anything. */
  #originMs: number;
  /** Where our own wall clock had that, when last measured. */
  #ownOriginMs: number;

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
    this.#ownOriginMs = clock.now() - clock.monotonic();
    this.#originMs = this.#ownOriginMs;
  }

  now(): number {
    return this.#originMs + this.#clock.monotonic();
  }

  /** Sets itself right. An answer that took long is as true as the middle of its time. */
  async measure(signal: AbortSignal): Promise<void> {
    const askedMs = this.#clock.monotonic();
    const ownOriginMs = this.#clock.now() - askedMs;
    const [row] = await this.#database.run(readDatabaseTime, undefined, signal);
    if (row === undefined) return;
    const middleMs = (askedMs + this.#clock.monotonic()) / 2;
    this.#originMs = row.now_ms - middleMs;
    this.#ownOriginMs = ownOriginMs;
  }

  /**
   * Measures now and then until `signal`, and soon after our machine has slept: a monotonic clock may stand still
   * meanwhile. While the database is away the last measure counts.
   */
  async keep({ log }: { readonly log: Log }, signal: AbortSignal): Promise<void> {
    const clock = this.#clock;
    let dueMs = clock.monotonic() + everyMs;
    while (!signal.aborted) {
      await clock.sleep(stepMs, signal).catch(() => {});
      if (signal.aborted) return;
      const apartMs = Math.abs(clock.now() - clock.monotonic() - this.#ownOriginMs);
      if (clock.monotonic() < dueMs && apartMs <= apartMaxMs) continue;
      dueMs = clock.monotonic() + everyMs;
      await this.measure(signal).catch((error: unknown) => {
        log.debug({ error }, "the time of the database was not asked for");
      });
    }
  }
}
