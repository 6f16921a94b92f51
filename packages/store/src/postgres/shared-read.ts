// Many callers, one query: whoever asks while a query runs shares the next one.

import { untilAbort } from "@keelson/base";

/**
 * Runs `read` for its callers, together. The answer is always from a read that began
 * after the call, so it holds whatever was committed before the call.
 */
export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  #next: Promise<T> | undefined;
  #current: Promise<unknown> = Promise.resolve();

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** Rejects with the signal's reason; the read goes on for the others. */
  async get(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    // Not the read under way: it may have looked before this call (S7).
    this.#next ??= this.#after(this.#current);
    return untilAbort(this.#next, signal);
  }

  async #after(current: Promise<unknown>): Promise<T> {
    await current.catch(() => undefined);
    const running = this.#read();
    this.#current = running;
    this.#next = undefined;
    return running;
  }
}
