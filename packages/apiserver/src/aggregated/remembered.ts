// Answers of somebody else, for a while.

import { untilAbort, type Clock } from "@keelson/base";

import { RecentMap } from "../auth/recent-map.ts";

export interface RememberedOptions {
  readonly clock: Clock;
  /** How old an answer may be, counted from its question. */
  readonly ageMsMax: number;
  /** How many are kept; a new one takes the place of the one not asked for longest. */
  readonly sizeMax: number;
}

/** Remembers answers by a key. Failures are not remembered. Who asks the same at the same time shares one question. */
export class Remembered<V> {
  readonly #clock: Clock;
  readonly #ageMsMax: number;
  readonly #answers: RecentMap<string, { readonly value: V; readonly askedAtMs: number }>;
  readonly #asking = new Map<string, Promise<V>>();

  constructor({ clock, ageMsMax, sizeMax }: RememberedOptions) {
    this.#clock = clock;
    this.#ageMsMax = ageMsMax;
    this.#answers = new RecentMap({ sizeMax });
  }

  /** The answer, if it is still young enough. */
  get(key: string): V | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    return this.#clock.monotonic() - answer.askedAtMs < this.#ageMsMax ? answer.value : undefined;
  }

  /**
   * Asks. The question ends by its own time, not by that of whoever asked first: others may share it. A caller whose
   * signal aborts waits no longer.
   */
  ask(key: string, question: () => Promise<V>, signal: AbortSignal): Promise<V> {
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      const askedAtMs = this.#clock.monotonic();
      asking = question()
        .then((value) => {
          this.#answers.set(key, { value, askedAtMs });
          return value;
        })
        .finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return untilAbort(asking, signal);
  }
}
