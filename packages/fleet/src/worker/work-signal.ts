import { onAbort } from "@keelson/base";
import type { Subscription, WakeReason } from "@keelson/database";

/** Wakes one waiter. What comes while it does not wait is kept, once; a fresh one begins awake. */
export class WorkSignal implements Subscription {
  #isCalled = true;
  #wake: (() => void) | undefined;

  wake(): void {
    this.#isCalled = true;
    this.#wake?.();
  }

  async wait(signal: AbortSignal): Promise<WakeReason> {
    signal.throwIfAborted();
    if (!this.#isCalled) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#wake = resolve;
      using _abort = onAbort(signal, () => reject(signal.reason as Error));
      try {
        await promise;
      } finally {
        this.#wake = undefined;
      }
    }
    this.#isCalled = false;
    return "woken";
  }

  [Symbol.dispose](): void {
    this.#wake?.();
  }
}
