// The time of the database, asked for now and then and counted on by our own clock.

import type { Clock } from "@keelson/base";
import type { Database } from "@keelson/database";
import { readDatabaseTime } from "./sql/schedules.ts";

/**
 * A clock that follows the database's: replicas whose machines disagree judge alike. Until it is measured for the
 * first time it says what our own clock says.
 */
export class DatabaseTime {
  readonly #database: Database;
  readonly #clock: Clock;
  /** What it was when our own monotonic clock stood at zero: a wall clock that is set anew must not age anything. */
  #originMs: number;

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
    this.#originMs = clock.now() - clock.monotonic();
  }

  now(): number {
    return this.#originMs + this.#clock.monotonic();
  }

  /** Sets itself right. An answer that took long is as true as the middle of its time. */
  async measure(signal: AbortSignal): Promise<void> {
    const askedMs = this.#clock.monotonic();
    const [row] = await this.#database.run(readDatabaseTime, undefined, signal);
    if (row === undefined) return;
    const middleMs = (askedMs + this.#clock.monotonic()) / 2;
    this.#originMs = row.now_ms - middleMs;
  }
}
