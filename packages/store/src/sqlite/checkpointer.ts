// Puts what the log of the file holds back into the file, in a thread of its own. Whoever commits would do it otherwise, once
// in 4,000 pages, and everybody would wait for it meanwhile, for tens of milliseconds and more where the disk is slow.

import { Worker } from "node:worker_threads";
import type { Clock } from "@keelson/base";

/** How many writes are worth it: each time the whole file is synced. */
const writesMin = 200;
/** Where there are many, how far apart. */
const everyMs = 200;

const program = new URL("./checkpointer-program.ts", import.meta.url);

/**
 * It can only save time: what it does not get to, or cannot do, is left to whoever commits, as if there were none. So
 * its failures are nobody's, and one that ends is not replaced.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #path: string;
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #state: "unused" | "resting" | "working" | "ended" = "unused";
  #writes = 0;
  #nextMs = 0;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Tells of writes that were committed. Nobody waits for what comes of it. */
  note(writes: number): void {
    this.#writes += writes;
    if (this.#writes < writesMin || this.#state === "working" || this.#state === "ended") return;
    const nowMs = this.#clock.monotonic();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + everyMs;
    this.#writes = 0;
    this.#worker ??= this.#run();
    this.#state = "working";
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage("checkpoint");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#state === "ended") return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once("exit", () => resolve());
    worker.ref();
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    worker.postMessage("close");
    await promise;
  }

  #run(): Worker {
    const worker = new Worker(program, {
      workerData: this.#path,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    worker.on("message", () => (this.#state = "resting"));
    worker.on("error", () => {});
    worker.on("exit", () => (this.#state = "ended"));
    return worker;
  }
}
