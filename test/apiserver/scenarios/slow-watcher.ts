// A watcher that takes its time, and then wants to know everything.

import { setTimeout as wait } from "node:timers/promises";

import type { Target } from "../target.ts";
import { openStream, type Stream } from "./stream.ts";

/** For all that it has missed. */
const patienceMs = 300_000;

export interface SlowOptions {
  readonly server: Target;
  readonly path: string;
  readonly from: string;
  /** Between two events. */
  readonly everyMs: number;
}

export class SlowWatcher implements AsyncDisposable {
  readonly #options: SlowOptions;
  readonly #signal: AbortSignal;
  readonly #hurry = new AbortController();
  readonly #leaving = new AbortController();
  readonly #revisions: number[] = [];
  readonly #ends: string[] = [];
  readonly #reading: Promise<void>;
  #last = Infinity;

  static async open(options: SlowOptions, signal: AbortSignal): Promise<SlowWatcher> {
    return new SlowWatcher(options, await openAt(options, options.from, signal), signal);
  }

  private constructor(options: SlowOptions, first: Stream, signal: AbortSignal) {
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#leaving.signal]);
    this.#reading = this.#read(first);
    this.#reading.catch(() => undefined);
  }

  /** Events read so far. */
  get count(): number {
    return this.#revisions.length;
  }

  /** Reads on as fast as it can up to this revision, and answers all that it was told and how its streams ended. */
  async catchUp(
    last: number,
  ): Promise<{ readonly revisions: readonly number[]; readonly ends: readonly string[] }> {
    this.#last = last;
    this.#hurry.abort();
    const late = AbortSignal.timeout(patienceMs);
    late.addEventListener("abort", () => this.#leaving.abort(late.reason), { once: true });
    await this.#reading;
    return { revisions: this.#revisions, ends: this.#ends };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    await this.#reading.catch(() => undefined);
  }

  /** A stream that ends in order is taken up where it was. */
  async #read(first: Stream): Promise<void> {
    for (
      let stream = first;
      ;
      stream = await openAt(this.#options, String(this.#position), this.#signal)
    ) {
      using open = stream;
      for (;;) {
        const event = await open.next(this.#signal);
        if (event === undefined) break;
        if (event.type === "ERROR") throw new Error(JSON.stringify(event.object));
        this.#revisions.push(event.revision);
        if (event.revision >= this.#last) return;
        if (this.#hurry.signal.aborted) continue;
        const either = AbortSignal.any([this.#hurry.signal, this.#signal]);
        await wait(this.#options.everyMs, undefined, { signal: either }).catch(() => undefined);
        this.#signal.throwIfAborted();
        if (this.#position >= this.#last) return;
      }
      this.#ends.push(open.hasEndedInOrder ? "in order" : "cut off");
    }
  }

  get #position(): number {
    return this.#revisions.at(-1) ?? Number(this.#options.from);
  }
}

async function openAt(
  { server, path }: SlowOptions,
  from: string,
  signal: AbortSignal,
): Promise<Stream> {
  return await openStream(server, `${path}?watch=1&resourceVersion=${from}`, signal);
}
