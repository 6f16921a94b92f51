import type { Random } from "./random.ts";

/** How a `Backoff` grows. */
export interface BackoffOptions {
  /** The first wait, before jitter. Positive. */
  readonly initialMs: number;
  /** No wait is longer. At least `initialMs`. */
  readonly maxMs: number;
  /** What each wait is multiplied by for the next one. At least 1; 2 unless told. */
  readonly factor?: number;
  /** The share of each wait that is left to chance, 0 to 1; 0.5 unless told. */
  readonly jitter?: number;
  readonly random: Random;
}

/**
 * The waits between attempts: they grow exponentially up to a cap, with jitter, for ever.
 *
 * The n-th wait is uniform in [(1 - jitter) · d, d], where d is `initialMs` · `factor`^(n-1), at most `maxMs`;
 * rounded to whole milliseconds. Jitter only shortens, so that the cap holds.
 */
export class Backoff {
  readonly #options: Required<BackoffOptions>;
  #attempts = 0;

  /** Throws a `RangeError` for options outside their range. */
  constructor({ initialMs, maxMs, factor = 2, jitter = 0.5, random }: BackoffOptions) {
    if (!(initialMs > 0)) throw new RangeError(`initialMs must be positive, not ${initialMs}`);
    if (!(maxMs >= initialMs))
      throw new RangeError(`maxMs must be at least initialMs, not ${maxMs}`);
    if (!(factor >= 1)) throw new RangeError(`factor must be at least 1, not ${factor}`);
    if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`jitter must be 0 to 1, not ${jitter}`);
    this.#options = { initialMs, maxMs, factor, jitter, random };
  }

  /** How often `next` was called since the start or the last `reset`. */
  get attempts(): number {
    return this.#attempts;
  }

  /**
   * The wait of somebody whose attempts are counted elsewhere, as in a database, after so many failures in a row; none
   * counts as one.
   */
  static after(failures: number, options: BackoffOptions): number {
    const backoff = new Backoff(options);
    backoff.#attempts = Math.max(0, failures - 1);
    return backoff.next();
  }

  /** How many milliseconds to wait before the next attempt. */
  next(): number {
    const { initialMs, maxMs, factor, jitter, random } = this.#options;
    const fullMs = Math.min(maxMs, initialMs * factor ** this.#attempts);
    this.#attempts++;
    return Math.round(fullMs * (1 - jitter * random.float()));
  }

  /** Starts again from `initialMs`: something succeeded. */
  reset(): void {
    this.#attempts = 0;
  }
}
