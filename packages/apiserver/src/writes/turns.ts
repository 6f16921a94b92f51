// Writers of one object, one after the other, once they have found out that they are several.

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
      const left = Promise.withResolvers<never>();
      const leave = (): void => left.reject(signal.reason as Error);
      signal.addEventListener("abort", leave, { once: true });
      try {
        await Promise.race([before, left.promise]);
      } catch (error) {
        finish();
        throw error;
      } finally {
        signal.removeEventListener("abort", leave);
      }
    }
    return { [Symbol.dispose]: finish };
  }
}
