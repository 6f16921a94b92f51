import { onAbort } from "@keelson/base";

/** Closed at first, then open for ever; whoever comes before waits. */
export class Gate {
  readonly #waiting = new Set<() => void>();
  #isOpen = false;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    for (const pass of this.#waiting) pass();
    this.#waiting.clear();
  }

  /** Resolves when it is open. Rejects with `signal.reason`. */
  async passed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isOpen) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    using _listener = onAbort(signal, () => {
      this.#waiting.delete(resolve);
      reject(signal.reason as Error);
    });
    await promise;
  }
}
