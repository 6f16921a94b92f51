// One change may go to thousands of watchers, and each of them is a write to a socket of its own. They take turns with
// whatever else there is to do.

import { setImmediate } from "node:timers";

/** How many pieces go out in one turn of the event loop: about half a millisecond. */
const piecesAtOnce = 32;

/**
 * Turns to write, in the order in which they were asked for. Whoever waits for one does not ask for more changes meanwhile: those
 * that come up go out together, so the more there is to do, the less each change costs.
 *
 * As many wait as there are streams.
 */
export class StreamTurns {
  #left = piecesAtOnce;
  #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Undefined: now. Else resolves when it is time. */
  take(): Promise<void> | undefined {
    this.#schedule();
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    const ready = this.#waiting.splice(0, piecesAtOnce);
    this.#left = piecesAtOnce - ready.length;
    if (this.#waiting.length > 0) this.#schedule();
    for (const resolve of ready) resolve();
  };
}
