import type { Clock } from "@keelson/base";

/** Nothing was heard for too long. */
export class Silence extends Error {
  constructor() {
    super("nothing was heard of a watch for too long");
    this.name = "Silence";
  }
}

/** Calls back once when nothing was heard for `silenceMs`. One timer, however much is heard. */
export class SilenceGuard implements Disposable {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #onSilence: () => void;
  #heardAtMs: number;
  #timer: Disposable;

  constructor(clock: Clock, silenceMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#onSilence = onSilence;
    this.#heardAtMs = clock.monotonic();
    this.#timer = this.#arm(silenceMs);
  }

  heard(): void {
    this.#heardAtMs = this.#clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #arm(ms: number): Disposable {
    return this.#clock.after(ms, () => {
      const leftMs = this.#heardAtMs + this.#silenceMs - this.#clock.monotonic();
      if (leftMs <= 0) this.#onSilence();
      else this.#timer = this.#arm(leftMs);
    });
  }
}
