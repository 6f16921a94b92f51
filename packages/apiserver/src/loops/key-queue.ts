// Keys that want attention: each once, each by one worker at a time, again after a failure.

import { Backoff, type Clock, isCancellation, type Log, onAbort, type Random } from "@keelson/base";

export interface KeyQueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly workers: number;
  /** Looks at one key. Answers after how many milliseconds to look again, or nothing. A throw means: later, and later still. */
  readonly look: (key: string, signal: AbortSignal) => Promise<number | undefined>;
}

/**
 * A key is queued once, and never looked at by two workers: one that is added while it is looked at is looked at again.
 * So the queue holds no more than there are keys.
 */
export class KeyQueue {
  readonly #options: KeyQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, Backoff>();
  readonly #timers = new Map<string, Disposable>();
  /** Workers with nothing to do. */
  readonly #idle: (() => void)[] = [];

  constructor(options: KeyQueueOptions) {
    this.#options = options;
  }

  /** How many keys wait or are looked at. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#timers.size;
  }

  add(key: string): void {
    this.#cancelTimer(key);
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#waiting.add(key);
    this.#idle.pop()?.();
  }

  addAfter(key: string, ms: number): void {
    if (this.#waiting.has(key) || this.#timers.has(key)) return;
    this.#timers.set(
      key,
      this.#options.clock.after(ms, () => {
        this.#timers.delete(key);
        this.add(key);
      }),
    );
  }

  /** Works until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    using _ = onAbort(signal, () => {
      for (const wake of this.#idle.splice(0)) wake();
    });
    try {
      const workers = Array.from({ length: this.#options.workers }, () => this.#work(signal));
      await Promise.all(workers);
    } finally {
      for (const key of this.#timers.keys()) this.#cancelTimer(key);
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [key] = this.#waiting;
      if (key === undefined) {
        await new Promise<void>((resolve) => this.#idle.push(resolve));
        continue;
      }
      this.#waiting.delete(key);
      this.#running.add(key);
      await this.#lookAt(key, signal);
      this.#running.delete(key);
      if (this.#again.delete(key)) this.add(key);
    }
  }

  async #lookAt(key: string, signal: AbortSignal): Promise<void> {
    const { look, log, name, random } = this.#options;
    try {
      const againMs = await look(key, signal);
      this.#failures.delete(key);
      if (againMs !== undefined) this.addAfter(key, againMs);
    } catch (error) {
      if (signal.aborted || isCancellation(error, signal)) return;
      let backoff = this.#failures.get(key);
      if (backoff === undefined) {
        backoff = new Backoff({ random, initialMs: 20, maxMs: 30_000 });
        this.#failures.set(key, backoff);
      }
      const level = backoff.attempts > 4 ? "warn" : "debug";
      log[level]({ loop: name, key, error }, "a loop will try again");
      this.addAfter(key, backoff.next());
    }
  }

  #cancelTimer(key: string): void {
    this.#timers.get(key)?.[Symbol.dispose]();
    this.#timers.delete(key);
  }
}
