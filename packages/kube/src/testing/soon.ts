// Work that must end soon is tried in a thread of its own: one that would take for ever is ended.

import { once } from "node:events";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

/** Far more than anything may take, also on a busy machine; far less than for ever. */
const deadlineMs = 120_000;

/** A thread that is asked one thing after the other. It is made when it is needed, and anew after one that did not come back. */
export class Thread implements AsyncDisposable {
  readonly #make: () => Worker;
  #idle: Worker | undefined;

  constructor(make: () => Worker) {
    this.#make = make;
  }

  /** What it says to a message. */
  async ask(message: unknown): Promise<unknown> {
    const worker = this.#idle ?? this.#make();
    this.#idle = undefined;
    try {
      const answered = once(worker, "message", { signal: AbortSignal.timeout(deadlineMs) });
      // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
      worker.postMessage(message);
      const [value] = (await answered) as [unknown];
      this.#idle = worker;
      return value;
    } finally {
      if (this.#idle !== worker) await worker.terminate();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#idle?.terminate();
    this.#idle = undefined;
  }
}

/** A thread for the cases of a module, by their names. It loads the module, which is to ask `answerInThread` before it does anything else. */
export function threadOf(module: string): Thread {
  return new Thread(() => new Worker(new URL(module)));
}

/** Whether this is such a thread; if so it carries out the cases that it is asked for. */
export function answerInThread(cases: Readonly<Record<string, () => unknown>>): boolean {
  if (isMainThread) return false;
  const answer = async (name: string): Promise<void> => {
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(await cases[name]?.());
  };
  parentPort?.on("message", (name: string) => void answer(name));
  return true;
}
