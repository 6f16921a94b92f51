// Wake-ups from other replicas. They only say: look. Nothing depends on one arriving (S15).

import type { Sql } from "postgres";
import type { Clock, Log, Random } from "@keelson/base";
import type { StoreMetrics } from "../metrics.ts";
import { isRevision, type Revision } from "../revision.ts";

export const channel = "ark_resources";

interface Options {
  /** A connection of its own that stays open. */
  readonly sql: Sql;
  /** Sends a notification, over any other connection. */
  readonly notify: (payload: string, signal: AbortSignal) => Promise<void>;
  /** Called after the connection was lost and made again. */
  readonly onReconnect: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: StoreMetrics;
}

/** How often listening is put to the test, and how long a test may take. */
const probeEveryMs = 30_000;
const probeMs = 2000;

/** How often the head is looked at while wake-ups do not arrive. */
const pollMs = 250;

/**
 * Listens, and knows whether it hears.
 *
 * Behind a transaction pooler LISTEN succeeds and nothing ever arrives, so a probe
 * is sent at every connect and every 30 s. While it does not come back, listeners
 * are woken every 250 ms instead.
 */
export class Notifications {
  readonly #options: Options;
  readonly #listeners = new Set<(committed?: Revision) => void>();
  #probe: { readonly payload: string; readonly arrived: () => void } | undefined;
  #isDeaf = true;
  #connects = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  onWake(listener: (committed?: Revision) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Runs until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#options;
    metrics.notifyConnected.set(0);
    metrics.notifyDegraded.set(1);
    let isListening = false;
    while (!signal.aborted) {
      try {
        if (!isListening) {
          await this.#listen(signal);
          isListening = true;
        }
        await this.#test(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#setDeaf(true);
        log.debug({ error }, "cannot listen for wake-ups");
      }
      await this.#rest(signal);
    }
    void clock;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { sql, metrics, onReconnect, log } = this.#options;
    await sql.listen(
      channel,
      (payload) => {
        if (payload === this.#probe?.payload) this.#probe.arrived();
        else metrics.notifyReceived.add(1);
        // A probe, ours or another's, is not a number: then look.
        const committed = Number(payload);
        this.#wakeAll(isRevision(committed) ? committed : undefined);
      },
      () => {
        metrics.notifyConnected.set(1);
        this.#connects += 1;
        if (this.#connects === 1) return;
        metrics.notifyReconnects.add(1);
        // What was announced meanwhile was announced to nobody: catch up first.
        onReconnect(signal).then(
          () => {
            this.#wakeAll();
          },
          (error: unknown) => {
            log.debug({ error }, "the database went away again");
          },
        );
      },
    );
  }

  /** Sends a probe and waits for it to come back. */
  async #test(signal: AbortSignal): Promise<void> {
    const { clock, random, notify } = this.#options;
    const payload = `probe ${random.uuid().slice(0, 8)}`;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#probe = {
      payload,
      arrived: () => {
        resolve(true);
      },
    };
    using _deadline = clock.after(probeMs, () => {
      resolve(false);
    });
    await notify(payload, signal);
    this.#setDeaf(!(await promise));
    this.#probe = undefined;
  }

  /** Until the next test; meanwhile, if deaf, says "look" every now and then. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const end = clock.monotonic() + probeEveryMs;
    while (!signal.aborted && clock.monotonic() < end) {
      try {
        await clock.sleep(this.#isDeaf ? pollMs : probeEveryMs, signal);
      } catch {
        return; // The signal: the only reason a sleep fails.
      }
      if (this.#isDeaf) this.#wakeAll();
    }
  }

  #setDeaf(isDeaf: boolean): void {
    const { metrics, log } = this.#options;
    if (isDeaf && !this.#isDeaf) log.warn({ channel }, "wake-ups do not arrive; polling instead");
    if (!isDeaf && this.#isDeaf) log.info({ channel }, "wake-ups arrive");
    this.#isDeaf = isDeaf;
    metrics.notifyDegraded.set(isDeaf ? 1 : 0);
  }

  #wakeAll(committed?: Revision): void {
    for (const listener of this.#listeners) listener(committed);
  }
}
