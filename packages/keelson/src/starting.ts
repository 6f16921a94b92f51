/**
 * A part that starts beside others. It belongs to the block that began it: leaving the block ends it, whether or not it has
 * started, and whether or not anybody waited for it.
 */
export class Starting<T extends AsyncDisposable> implements AsyncDisposable {
  /** The part. Rejects with what kept it from starting. */
  readonly ready: Promise<T>;
  readonly #left = new AbortController();

  constructor(start: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) {
    this.ready = start(AbortSignal.any([signal, this.#left.signal]));
    this.ready.catch(() => {}); // Whoever waits hears of it; a block that is left early has its own reason.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#left.abort();
    const part = await this.ready.catch(() => undefined);
    await part?.[Symbol.asyncDispose]();
  }
}
