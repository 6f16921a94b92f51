// A start that meets a database which is slow, or away for a moment, waits for it, but not for ever.

import { Backoff, onAbort, type Clock, type Log, type Random } from "@keelson/base";
import { Unavailable } from "@keelson/store";

/** The database was away for longer than a start waits. The `cause` is what it said last. */
export class DatabaseAway extends Error {
  readonly code = "DATABASE_AWAY";
  /** What could not be done without it: `the Service kubernetes`. */
  readonly step: string;

  constructor(step: string, waitedMs: number, cause: unknown) {
    const waited = `${Math.round(waitedMs / 100) / 10} s`;
    super(`${step} could not be had of the database for ${waited}: ${reasonOf(cause)}`, { cause });
    this.name = "DatabaseAway";
    this.step = step;
  }
}

export interface PatienceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long a step is tried again after it failed first. */
  readonly patienceMs: number;
}

/** How often it is asked whether there is a database at all, while something else waits for it. */
const askEveryMs = 2_000;

/** Tries again what a database was away for. */
export class Patience {
  readonly #options: PatienceOptions;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** Does what can be done again, until it is done. Throws `DatabaseAway`, or at once what another time will not change. */
  async of<T>(step: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random, log, patienceMs } = this.#options;
    const backoff = new Backoff({ initialMs: 50, maxMs: 2_000, random });
    let firstMs: number | undefined;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (!isPassing(error)) throw error;
        const nowMs = clock.monotonic();
        firstMs ??= nowMs;
        const waitMs = backoff.next();
        if (nowMs + waitMs > firstMs + patienceMs) {
          throw new DatabaseAway(step, nowMs - firstMs, error);
        }
        log.warn({ step, reason: reasonOf(error) }, "waiting for the database");
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Waits for what tries again by itself, and for ever: for as long as `ask` finds a database. */
  async until(
    step: string,
    { done, ask }: { readonly done: Promise<void>; readonly ask: () => Promise<void> },
    signal: AbortSignal,
  ): Promise<void> {
    const enough = new AbortController();
    void done.then(() => enough.abort());
    using _stop = onAbort(signal, () => enough.abort());
    while (!enough.signal.aborted) {
      await this.#options.clock.sleep(askEveryMs, enough.signal).catch(() => undefined);
      if (!enough.signal.aborted) await this.of(step, ask, signal);
    }
    signal.throwIfAborted();
  }
}

/** Whether another time may go well: nothing but the database was in the way. */
function isPassing(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  if (error instanceof AggregateError) return error.errors.every(isPassing);
  return error instanceof Error && error.cause !== undefined && isPassing(error.cause);
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined && isPassing(error.cause)) {
    return error instanceof Unavailable ? error.message : reasonOf(error.cause);
  }
  return error instanceof Error ? error.message : String(error);
}
