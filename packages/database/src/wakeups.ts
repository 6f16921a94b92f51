// "Look": from this process at once, from others by LISTEN. A wake-up carries no content, and losing one costs
// at most a poll interval.

import {
  Backoff,
  isCancellation,
  onAbort,
  silentLog,
  systemRandom,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import type { Database } from "./database.ts";
import { declareMetrics, type DatabaseMetrics } from "./metrics.ts";
import { listen, notify } from "./sql/wakeups.ts";

export interface WakeupsOptions {
  readonly database: Database;
  /** How often the listener proves to itself that notifications arrive. */
  readonly probeEveryMs?: number;
  /** How long a probe may take before the listener counts as deaf. */
  readonly probeWithinMs?: number;
  readonly random?: Random;
  readonly log?: Log;
}

export interface SubscribeOptions {
  /** The safety net while wake-ups arrive. */
  readonly pollMs: number;
  /** The interval while they do not. */
  readonly deafPollMs: number;
}

/** Why a wait ended: somebody called, or it was time to look anyway. */
export type WakeReason = "woken" | "poll";

/**
 * A place in the audience of a channel. A wake-up that comes while nobody waits is kept, once; so is the one that
 * a fresh subscription starts with, because nobody knows what happened before.
 */
export interface Subscription extends Disposable {
  wait(signal: AbortSignal): Promise<WakeReason>;
}

const probeChannel = "keelson_probe";

/**
 * Wake-ups by channel. `run` keeps the listener alive; without it, or while it is deaf (behind a transaction
 * pooler, say, which breaks LISTEN without an error), subscribers poll.
 */
export class Wakeups {
  readonly clock: Clock;
  readonly #database: Database;
  readonly #log: Log;
  readonly #random: Random;
  readonly #metrics: DatabaseMetrics;
  readonly #probeEveryMs: number;
  readonly #probeWithinMs: number;
  readonly #audience = new Map<string, Set<Listener>>();
  #isLive = false;
  #onNewChannel: () => void = () => {};

  constructor({
    database,
    probeEveryMs = 30_000,
    probeWithinMs = 5_000,
    random = systemRandom,
    log = silentLog,
  }: WakeupsOptions) {
    this.#database = database;
    this.clock = database.clock;
    this.#log = log;
    this.#random = random;
    this.#metrics = declareMetrics(database.metrics);
    this.#probeEveryMs = probeEveryMs;
    this.#probeWithinMs = probeWithinMs;
    this.#metrics.listenerUp.set({ pool: database.name }, 0);
  }

  /** Whether notifications of other processes have been proved to arrive. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Wakes this process's subscribers of `channel` now. */
  wakeHere(channel: string): void {
    this.#wake(channel, "process");
  }

  /** Wakes the subscribers of `channel` in every process, this one's without a detour. */
  async wakeAll(channel: string, signal: AbortSignal): Promise<void> {
    this.wakeHere(channel);
    await this.#database.run(notify, { channel, payload: "" }, signal);
  }

  /** Joins the audience of `channel`; disposing leaves it. */
  subscribe(channel: string, options: SubscribeOptions): Subscription {
    const members = this.#audience.get(channel) ?? new Set();
    this.#audience.set(channel, members);
    const listener = new Listener(this.clock, () =>
      this.#isLive ? options.pollMs : options.deafPollMs,
    );
    members.add(listener);
    this.#onNewChannel();
    return {
      wait: (signal) => listener.wait(signal),
      [Symbol.dispose]: () => void members.delete(listener),
    };
  }

  /** Listens until `signal`; reconnects by itself, and after every reconnect wakes everybody first. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff({ initialMs: 100, maxMs: 30_000, random: this.#random });
    while (!signal.aborted) {
      try {
        await this.#listenOnce(() => backoff.reset(), signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        this.#log.warn(
          { error, pool: this.#database.name },
          "wake-ups do not arrive, polling instead",
        );
      } finally {
        this.#setLive(false);
      }
      await this.clock.sleep(backoff.next(), signal).catch(() => {});
    }
  }

  async #listenOnce(onLive: () => void, signal: AbortSignal): Promise<void> {
    let isClosed = false;
    let goOn: () => void = () => {};
    const close = (): void => {
      isClosed = true;
      goOn();
    };
    let heard: (payload: string) => void = () => {};
    const session = this.#database.openSession({
      onClose: close,
      onNotify: (channel, payload) => {
        if (channel === probeChannel) heard(payload);
        else this.#wake(channel, "database");
      },
    });
    using _stop = onAbort(signal, close);
    const heardOf = new Set<string>();
    try {
      await session.run(listen, probeChannel, this.#probeWithinMs);
      for (let nextProbeMs = 0; ;) {
        // Of this turn alone: what is waited for beside a promise that lasts is kept as long as that.
        const { promise: woken, resolve } = Promise.withResolvers<void>();
        goOn = resolve;
        this.#onNewChannel = resolve;
        for (const channel of this.#audience.keys()) {
          if (heardOf.has(channel)) continue;
          await session.run(listen, channel, this.#probeWithinMs);
          heardOf.add(channel);
          this.#wake(channel, "reconnect"); // What was sent before now went unheard.
        }
        signal.throwIfAborted();
        if (this.clock.monotonic() >= nextProbeMs) {
          await this.#probe((listener) => (heard = listener), signal);
          onLive();
          this.#setLive(true);
          nextProbeMs = this.clock.monotonic() + this.#probeEveryMs;
        }
        using _timer = this.clock.after(nextProbeMs - this.clock.monotonic(), resolve);
        if (!isClosed) await woken;
        if (isClosed) return;
      }
    } finally {
      this.#onNewChannel = () => {};
      await session.close({ immediately: true });
    }
  }

  /** Sends itself a word through the pool and waits to hear it. */
  async #probe(
    onHeard: (listener: (payload: string) => void) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const word = this.#random.uuid();
    const { promise: heard, resolve, reject } = Promise.withResolvers<void>();
    heard.catch(() => {});
    onHeard((payload) => {
      if (payload === word) resolve();
    });
    using _timer = this.clock.after(this.#probeWithinMs, () =>
      reject(new Error("a probe of our own was not heard")),
    );
    using _abort = onAbort(signal, () => reject(signal.reason as Error));
    await this.#database.run(notify, { channel: probeChannel, payload: word }, signal);
    await heard;
  }

  /** Becoming live or deaf, everybody looks once: something may have been missed, or the interval is another. */
  #setLive(isLive: boolean): void {
    if (this.#isLive === isLive) return;
    this.#isLive = isLive;
    this.#metrics.listenerUp.set({ pool: this.#database.name }, isLive ? 1 : 0);
    const message = isLive ? "listening for wake-ups" : "no longer listening for wake-ups";
    this.#log.info({ pool: this.#database.name }, message);
    for (const channel of this.#audience.keys()) this.#wake(channel, "reconnect");
  }

  #wake(channel: string, source: "process" | "database" | "reconnect"): void {
    this.#metrics.wakeups.add({ pool: this.#database.name, source });
    for (const listener of this.#audience.get(channel) ?? []) listener.wake();
  }
}

/** One subscriber: at most one wake-up is kept for it. */
class Listener {
  readonly #clock: Clock;
  readonly #intervalMs: () => number;
  #isCalled = true;
  #wakeNow: (() => void) | undefined;

  constructor(clock: Clock, intervalMs: () => number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  wake(): void {
    this.#isCalled = true;
    this.#wakeNow?.();
  }

  async wait(signal: AbortSignal): Promise<WakeReason> {
    signal.throwIfAborted();
    if (!this.#isCalled) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#wakeNow = resolve;
      using _abort = onAbort(signal, () => reject(signal.reason as Error));
      using _timer = this.#clock.after(this.#intervalMs(), resolve);
      try {
        await promise;
      } finally {
        this.#wakeNow = undefined;
      }
    }
    const reason = this.#isCalled ? "woken" : "poll";
    this.#isCalled = false;
    return reason;
  }
}
