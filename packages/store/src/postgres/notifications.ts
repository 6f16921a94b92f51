// Wake-ups from other replicas. They only say: look. Nothing depends on one arriving (S15).

import { Backoff, TaskScope, untilAbort, type Clock, type Log, type Random } from "@keelson/base";
import type { StoreMetrics } from "../metrics.ts";
import { isRevision, type Revision } from "../revision.ts";
import { connect, type DriverOptions } from "./connection.ts";

export const channel = "ark_resources";

interface Options {
  readonly driver: DriverOptions;
  /** Sends a notification, over any other connection. */
  readonly notify: (payload: string, signal: AbortSignal) => Promise<void>;
  /** Called when the connection is there, or there no more. */
  readonly onChange: () => void;
  /** Called when another database may have taken over: after the connection was lost and made again, before anybody is woken. */
  readonly onDoubt: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: StoreMetrics;
}

/** How often listening is put to the test, and how long connecting and a test may take. */
const probeEveryMs = 30_000;
const listenMs = 5000;
const probeMs = 2000;

/** How often the head is looked at while wake-ups do not arrive. */
const pollMs = 250;

/**
 * Listens, and knows whether it hears.
 *
 * Behind a transaction pooler LISTEN succeeds and nothing ever arrives, so a probe
 * is sent at every connect and every 30 s. From the moment the connection is lost,
 * and while a probe has not come back, listeners are woken every 250 ms instead.
 */
export class Notifications {
  readonly #options: Options;
  readonly #listeners = new Set<(committed: Revision | undefined) => void>();
  #probe: { readonly payload: string; readonly arrived: () => void } | undefined;
  #isDeaf = true;
  #isConnected = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the connection that listens is up. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The listener is told the revision that was committed, if the wake-up says. */
  onWake(listener: (committed: Revision | undefined) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Runs until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    this.#setConnected(false);
    this.#options.metrics.notifyDegraded.set(1);
    await using scope = new TaskScope(signal);
    scope.spawn("listen", (signal) => this.#keepListening(signal));
    scope.spawn("poll", (signal) => this.#keepPolling(signal));
    await scope.join();
  }

  async #keepListening(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const backoff = new Backoff({ initialMs: 100, maxMs: 5000, random });
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        await this.#listen({ isFirst, onHeard: () => backoff.reset() }, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug({ error }, "cannot listen for wake-ups");
      }
      this.#setConnected(false);
      this.#setDeaf(true);
      if (signal.aborted) return;
      await clock.sleep(backoff.next(), signal);
    }
  }

  /** One connection, from LISTEN to its end. */
  async #listen(
    { isFirst, onHeard }: { readonly isFirst: boolean; readonly onHeard: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { driver, clock, metrics, onDoubt } = this.#options;
    const lost = new AbortController();
    const sql = connect(driver, {
      onnotify: (_channel, payload) => {
        this.#hear(payload);
      },
      onclose: () => {
        lost.abort(new Error("the listening connection was lost"));
      },
    });
    try {
      const ready = AbortSignal.any([signal, lost.signal, clock.timeout(listenMs)]);
      await untilAbort(sql`LISTEN ${sql(channel)}`.execute(), ready);
      this.#setConnected(true);
      if (!isFirst) metrics.notifyReconnects.add(1);
      // What was announced meanwhile was announced to nobody: catch up first.
      if (!isFirst) await onDoubt(signal);
      this.#wakeAll();
      const connected = AbortSignal.any([signal, lost.signal]);
      for (;;) {
        await this.#test(connected);
        if (!this.#isDeaf) onHeard();
        // The connection may be to a pooler: then it outlives the server behind it, and nothing tells of a failover.
        else await onDoubt(signal);
        await clock.sleep(probeEveryMs, connected);
      }
    } finally {
      await sql.end({ timeout: 0 });
    }
  }

  /** While deaf, says "look" every now and then; also while a test is under way. */
  async #keepPolling(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(pollMs, signal);
      if (this.#isDeaf) this.#wakeAll();
    }
  }

  /** Sends a probe and waits for it to come back. */
  async #test(signal: AbortSignal): Promise<void> {
    const { clock, random, notify } = this.#options;
    const payload = `probe ${random.uuid().slice(0, 8)}`;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#probe = { payload, arrived: () => resolve(true) };
    using _deadline = clock.after(probeMs, () => {
      resolve(false);
    });
    try {
      await notify(payload, signal);
      this.#setDeaf(!(await untilAbort(promise, signal)));
    } finally {
      this.#probe = undefined;
    }
  }

  #hear(payload: string): void {
    if (payload === this.#probe?.payload) this.#probe.arrived();
    else this.#options.metrics.notifyReceived.add(1);
    // A probe, ours or another's, is not a number: then look.
    const committed = Number(payload);
    this.#wakeAll(isRevision(committed) ? committed : undefined);
  }

  #setConnected(isConnected: boolean): void {
    const { metrics, onChange } = this.#options;
    this.#isConnected = isConnected;
    metrics.notifyConnected.set(isConnected ? 1 : 0);
    onChange();
  }

  #setDeaf(isDeaf: boolean): void {
    const { metrics, log } = this.#options;
    if (isDeaf && !this.#isDeaf) log.warn({ channel }, "wake-ups do not arrive, polling instead");
    if (!isDeaf && this.#isDeaf) log.info({ channel }, "wake-ups arrive");
    this.#isDeaf = isDeaf;
    metrics.notifyDegraded.set(isDeaf ? 1 : 0);
  }

  #wakeAll(committed?: Revision): void {
    for (const listener of this.#listeners) listener(committed);
  }
}
