// Writers of one object, one after the other, once they have found out that they are several.

import { untilAbort } from "@keelson/base";

/**
 * Gives turns by name, in the order in which they are asked for. Whoever waits is a request in flight, so no more wait
 * than may run.
 */
export class Turns {
  /** The end of the last turn that was asked for. */
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when everybody who asked before is done, or has given up; dispose of the answer to end the turn. */
  async take(name: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const before = this.#last.get(name);
    const turn = Promise.withResolvers<void>();
    const end = before === undefined ? turn.promise : before.then(() => turn.promise);
    this.#last.set(name, end);
    const finish = (): void => {
      turn.resolve();
      if (this.#last.get(name) === end) this.#last.delete(name);
    };
    if (before !== undefined) {
      try {
        await untilAbort(before, signal);
      } catch (error) {
        finish();
        throw error;
      }
    }
    return { [Symbol.dispose]: finish };
  }
}
