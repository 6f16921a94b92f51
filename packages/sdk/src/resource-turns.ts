// One run per resource at a time, and what arrives meanwhile is one more run, not many.

import { LinkedList } from "@keelson/base";

/**
 * Takes turns per key.
 *
 * - At most one run of a key at a time, at most `concurrency` runs in all, in the order of asking.
 * - Whoever asks while a run of the key waits for its turn shares that run; whoever asks while it is running
 *   shares the next one. The run gets what was asked last.
 */
export class ResourceTurns<Request, Answer> {
  readonly #concurrency: number;
  readonly #run: (key: string, request: Request) => Promise<Answer>;
  readonly #keys = new Map<string, Turn<Request, Answer>>();
  readonly #ready = new LinkedList<string>();
  #running = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: {
    readonly concurrency: number;
    readonly run: (key: string, request: Request) => Promise<Answer>;
  }) {
    this.#concurrency = options.concurrency;
    this.#run = options.run;
  }

  /** Answers when a run that began after this call has ended. */
  ask(key: string, request: Request): Promise<Answer> {
    const turn = this.#keys.get(key);
    if (turn === undefined) {
      const next = { request, ...Promise.withResolvers<Answer>() };
      this.#keys.set(key, { isRunning: false, next });
      this.#ready.push(key);
      this.#startReady();
      return next.promise;
    }
    turn.next ??= { request, ...Promise.withResolvers<Answer>() };
    turn.next.request = request;
    return turn.next.promise;
  }

  /** Ends when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.#keys.size === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  #startReady(): void {
    while (this.#running < this.#concurrency) {
      const key = this.#ready.shift()?.value;
      if (key === undefined) return;
      this.#running++;
      void this.#take(key);
    }
  }

  async #take(key: string): Promise<void> {
    const turn = this.#keys.get(key);
    const current = turn?.next;
    if (turn !== undefined && current !== undefined) {
      turn.isRunning = true;
      turn.next = undefined;
      try {
        current.resolve(await this.#run(key, current.request));
      } catch (error) {
        current.reject(error);
      }
      turn.isRunning = false;
      if (turn.next === undefined) this.#keys.delete(key);
      else this.#ready.push(key); // Behind the others: one busy resource must not keep them waiting.
    }
    this.#running--;
    this.#startReady();
    if (this.#keys.size === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }
}

interface Turn<Request, Answer> {
  isRunning: boolean;
  next: (PromiseWithResolvers<Answer> & { request: Request }) | undefined;
}
