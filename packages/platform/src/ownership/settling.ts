import type { Clock } from "@keelson/base";

import { StepError } from "../steps/step-error.ts";

/**
 * What was to be made and is not there may still come to be: an operator may have ended while the service was at it, and
 * once it is forgotten nobody would look for it again. It is missed for a while before it is believed to be missing, and
 * nobody is held up meanwhile.
 */
export class Settling {
  readonly #clock: Clock;
  readonly #settleMs: number;
  /** When each was first missed, by the monotonic clock. */
  readonly #since = new Map<string, number>();

  constructor(clock: Clock, settleMs: number) {
    this.#clock = clock;
    this.#settleMs = settleMs;
  }

  /** Throws `Unreachable`, with the time after which to look again, until `what` has been missed for long enough. */
  miss(what: string): void {
    const nowMs = this.#clock.monotonic();
    const sinceMs = this.#since.get(what) ?? nowMs;
    this.#since.set(what, sinceMs);
    const retryAfterMs = sinceMs + this.#settleMs - nowMs;
    if (retryAfterMs <= 0) return;
    const message = `${what} was to be made and is not there: it may still come to be, and is waited for`;
    throw new StepError("Unreachable", message, { retryAfterMs });
  }

  /** It is there, is forgotten, or is wanted anew. */
  end(what: string): void {
    this.#since.delete(what);
  }
}
