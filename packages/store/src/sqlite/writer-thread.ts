// Transactions in a thread of their own: statements and the wait for the disk keep nobody here from answering.

import { Worker } from "node:worker_threads";
import type { Bounds, CutLimits } from "../backend.ts";
import { Unavailable } from "../errors.ts";
import type { Revision } from "../revision.ts";
import { type Packed, packBatch, unpackOutcomes } from "./packed-batch.ts";
import type { CommittedBatch, PlainWrite } from "./transactions.ts";

/** What the thread is asked to run, one after the other, and what is known of the file here. */
export type Request = { readonly bounds: Bounds } & (
  | { readonly name: "commit"; readonly batch: Packed; readonly now: string }
  | { readonly name: "cut"; readonly upTo: Revision; readonly limits: CutLimits }
  | { readonly name: "leap" }
);

/** One for each request, in order. Either way it tells what the thread knows of the file now. */
export type Reply =
  | { readonly bounds: Bounds; readonly result: unknown }
  | { readonly bounds: Bounds; readonly failure: Failure };

/** What an error keeps on its way between threads. */
export interface Failure {
  readonly message: string;
  /** SQLite's, if it is one of its errors. */
  readonly errcode: number | undefined;
}

export interface WriterThreadOptions {
  readonly path: string;
  readonly learn: (bounds: Bounds) => void;
  /** What runs there, for tests of its end. */
  readonly program?: URL;
}

const usualProgram = new URL("./writer-thread-program.ts", import.meta.url);

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The thread, from outside. It keeps the process alive only while it has something to do. Should it end by itself, what was under
 * way is Unavailable, nobody knowing whether it was committed, and `start` starts another.
 *
 * As many requests wait as callers ask at once: the queue of commits has two batches here at most, compaction one cut.
 */
export class WriterThread implements AsyncDisposable {
  readonly #path: string;
  readonly #learn: (bounds: Bounds) => void;
  readonly #program: URL;
  #worker: Worker | undefined;
  #isReady = false;
  #isHopeless = false;
  readonly #pending: Pending[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** `learn` hears of the bounds of the file after each transaction, before whoever asked for it does. */
  constructor({ path, learn, program = usualProgram }: WriterThreadOptions) {
    this.#path = path;
    this.#learn = learn;
    this.#program = program;
  }

  /** Whether it can be asked. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether it runs and cannot be asked yet. */
  get isStarting(): boolean {
    return this.#worker !== undefined && !this.#isReady;
  }

  /** Begins to start it, unless it runs already, or could not be started before. */
  start(): void {
    if (!this.#isHopeless) this.#worker ??= this.#run();
  }

  /** Whether it has something to do. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  async commit(batch: readonly PlainWrite[], now: string, bounds: Bounds): Promise<CommittedBatch> {
    const asked = this.#ask({ name: "commit", batch: packBatch(batch), now, bounds });
    const { head, packed } = (await asked) as { head: Revision; packed: Packed };
    return { head, outcomes: unpackOutcomes(packed) };
  }

  cut(
    upTo: Revision,
    limits: CutLimits,
    bounds: Bounds,
  ): Promise<Bounds & { readonly done: boolean }> {
    const asked = this.#ask({ name: "cut", upTo, limits, bounds });
    return asked as Promise<Bounds & { readonly done: boolean }>;
  }

  leap(bounds: Bounds): Promise<Bounds> {
    return this.#ask({ name: "leap", bounds }) as Promise<Bounds>;
  }

  /** Resolves when what is under way has ended. */
  async settled(): Promise<void> {
    await this.#last.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once("exit", () => resolve());
    worker.ref();
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    worker.postMessage("close");
    await promise;
  }

  #ask(request: Request): Promise<unknown> {
    const worker = this.#worker;
    if (worker === undefined) throw new Unavailable("the thread that writes has ended");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#pending.push({ resolve, reject }) === 1) worker.ref();
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request);
    this.#last = promise;
    return promise;
  }

  #run(): Worker {
    const worker = new Worker(this.#program, {
      workerData: this.#path,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytesMax },
      // It says nothing there; left to itself Node opens the streams of the process for it, and a pipe behind one no longer waits.
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    worker.on("message", (reply: Reply | "ready") => {
      if (reply === "ready") this.#isReady = true;
      else this.#hear(worker, reply);
    });
    let cause: unknown;
    worker.on("error", (error) => (cause = error));
    worker.on("exit", () => this.#lose(cause));
    return worker;
  }

  #hear(worker: Worker, reply: Reply): void {
    this.#learn(reply.bounds);
    const pending = this.#pending.shift();
    if (this.#pending.length === 0) worker.unref();
    if ("result" in reply) pending?.resolve(reply.result);
    else pending?.reject(errorOf(reply.failure));
  }

  #lose(cause: unknown): void {
    this.#worker = undefined;
    this.#isHopeless = !this.#isReady;
    this.#isReady = false;
    const lost = this.#pending.splice(0);
    if (lost.length === 0) return;
    const error = new Unavailable("the thread that writes the database has ended", { cause });
    for (const { reject } of lost) reject(error);
  }
}

/** What comes and goes with a batch is soon gone. */
const youngMegabytesMax = 8;

function errorOf({ message, errcode }: Failure): Error {
  const error = new Error(message);
  return errcode === undefined ? error : Object.assign(error, { errcode });
}
