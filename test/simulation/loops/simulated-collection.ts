// A collection of a simulated API server: versions, a log that is compacted, watches over a network that fails.

import type { Random } from "@keelson/base";
import type { ManualClock } from "@keelson/base/testing";
import {
  ConnectionFailed,
  DeadlineExceeded,
  type Collection,
  type CollectionWatch,
  type DynamicObject,
  type List,
  type WatchEvent,
} from "@keelson/client";
import { StatusError, type StatusReason } from "@keelson/kube";

/** What lies between us and the server. */
export type Network = "clear" | "refusing" | "half-open";

/** What the server makes of `sendInitialEvents`. */
export type StreamSupport = "honours" | "refuses" | "ignores";

interface Entry {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: DynamicObject;
}

/** The server's side: the truth. */
export class SimulatedCollection {
  readonly #random: Random;
  #log: Entry[] = [];
  #state = new Map<string, DynamicObject>();
  #head = 10;
  #floor = 10;
  #uids = 0;
  #backup: { readonly state: Map<string, DynamicObject>; readonly head: number } | undefined;
  readonly streams = new Set<Stream>();
  network: Network = "clear";
  support: StreamSupport = "honours";
  /** Requests are refused with these, one after the other. */
  readonly refusals: StatusReason[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  get head(): number {
    return this.#head;
  }

  get state(): ReadonlyMap<string, DynamicObject> {
    return this.#state;
  }

  /** Writes an object and gives its new state; a deletion gives the last. */
  write(name: string, isDeletion: boolean): DynamicObject | undefined {
    const current = this.#state.get(name);
    if (isDeletion && current === undefined) return undefined;
    this.#head += 1 + this.#random.integer(3); // Other kinds have versions too.
    const uid = current?.metadata.uid ?? `uid-${++this.#uids}`;
    const resourceVersion = String(this.#head);
    const metadata = { name, uid, resourceVersion };
    const object: DynamicObject = { apiVersion: "v1", kind: "Thing", metadata };
    const type = isDeletion ? "DELETED" : current === undefined ? "ADDED" : "MODIFIED";
    this.#log.push({ version: this.#head, type, object });
    if (isDeletion) this.#state.delete(name);
    else this.#state.set(name, object);
    return object;
  }

  /** Forgets the log; those who watch are served from memory and go on. */
  compact(): void {
    for (const stream of this.streams) {
      stream.pending = [...stream.pending, ...this.since(stream)];
      stream.cursor = Math.max(stream.cursor, this.#head);
    }
    this.#floor = this.#head;
    this.#log = [];
  }

  backUp(): void {
    this.#backup = { state: new Map(this.#state), head: this.#head };
  }

  /** Puts the store back to an older state: versions begin again from there. All streams end. */
  restore(): void {
    if (this.#backup === undefined) return;
    const { state, head } = this.#backup;
    this.#backup = undefined;
    this.#state = new Map(state);
    this.#head = head;
    this.#floor = head;
    this.#log = [];
    this.cut();
  }

  cut(): void {
    for (const stream of this.streams) stream.end(broken());
  }

  since({ cursor }: { readonly cursor: number }): readonly Entry[] {
    return this.#log.filter(({ version }) => version > cursor);
  }

  /** Lets some streams have what is due to them. */
  deliver(): void {
    if (this.network === "half-open") return;
    for (const stream of this.streams) {
      if (stream.isDeaf || this.#random.float() < 0.3) continue;
      const entries = [...stream.pending, ...this.since(stream)];
      const count = this.#random.integer(entries.length + 1);
      stream.pending = entries.slice(count);
      stream.cursor = Math.max(stream.cursor, this.#head);
      for (const { type, object } of entries.slice(0, count)) stream.push({ type, object });
      if (stream.pending.length === 0 && this.#random.float() < 0.1) stream.bookmark(this.#head);
    }
  }

  /** As a client sees it. */
  seenBy(clock: ManualClock): Collection {
    return {
      isInProcess: false,
      list: async (signal) => {
        await this.#reach(clock, 10_000, signal);
        return this.#snapshot();
      },
      probe: async (signal) => {
        await this.#reach(clock, 10_000, signal);
        return String(this.#head);
      },
      watch: async (request, signal) => await this.#watch(request, clock, signal),
      renewConnections: () => {
        // What was half open stays so; what is made anew works.
        if (this.network === "half-open") this.network = "clear";
      },
    };
  }

  #snapshot(): List<DynamicObject> {
    return { items: [...this.#state.values()], resourceVersion: String(this.#head) };
  }

  async #watch(
    request: CollectionWatch,
    clock: ManualClock,
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchEvent>> {
    await this.#reach(clock, request.openTimeoutMs, signal);
    const isInitial = request.sendInitialEvents === true;
    if (isInitial && this.support === "refuses") throw refused("Invalid");
    const from = isInitial ? this.#head : Number(request.from);
    const stream = new Stream(from, () => this.streams.delete(stream));
    this.streams.add(stream);
    signal.addEventListener("abort", () => stream.end(signal.reason as Error), { once: true });
    if (from < this.#floor) {
      // In the stream or instead of it: clients meet both.
      const error = refused("Expired");
      if (this.#random.float() < 0.5) {
        stream.end(error);
        throw error;
      }
      stream.end(error);
      return stream;
    }
    if (isInitial) {
      for (const object of this.#state.values()) stream.push({ type: "ADDED", object });
      if (this.support === "honours") stream.bookmark(this.#head, { isInitialEnd: true });
    }
    const end = (): void => {
      // Nobody hears the end of a stream that is half open.
      if (this.network !== "half-open" && !stream.isDeaf) stream.end(undefined);
    };
    clock.after(request.timeoutSeconds * 1000, end);
    return stream;
  }

  async #reach(clock: ManualClock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(this.#random.integer(30), signal);
    if (this.network === "refusing") throw broken();
    if (this.network === "half-open") {
      await clock.sleep(timeoutMs, signal);
      throw new DeadlineExceeded("a request", timeoutMs);
    }
    const reason = this.refusals.shift();
    if (reason !== undefined) throw refused(reason);
  }
}

/** One watch. */
export class Stream implements AsyncIterable<WatchEvent> {
  cursor: number;
  pending: readonly Entry[] = [];
  /** Nothing reaches us any more, though nobody has hung up. */
  isDeaf = false;
  readonly #events: WatchEvent[] = [];
  readonly #onEnd: () => void;
  #end: { readonly error: Error | undefined } | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(cursor: number, onEnd: () => void) {
    this.cursor = cursor;
    this.#onEnd = onEnd;
  }

  push(event: WatchEvent): void {
    this.#events.push(event);
    this.#wake.resolve();
  }

  bookmark(version: number, { isInitialEnd = false } = {}): void {
    this.push({ type: "BOOKMARK", resourceVersion: String(version), isInitialEnd });
  }

  end(error: Error | undefined): void {
    this.#end ??= { error };
    this.#onEnd();
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent, void, undefined> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else if (this.#end !== undefined) return;
        else {
          this.#wake = Promise.withResolvers();
          await this.#wake.promise;
        }
      }
    } finally {
      this.#onEnd();
    }
  }
}

function broken(): ConnectionFailed {
  return new ConnectionFailed("no answer: cut", { maybeSent: true, cause: undefined });
}

const codes: Partial<Record<StatusReason, number>> = {
  Expired: 410,
  Invalid: 422,
  TooManyRequests: 429,
  ServiceUnavailable: 503,
  InternalError: 500,
  Unauthorized: 401,
  NotFound: 404,
};

function refused(reason: StatusReason): StatusError {
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason,
    message: reason,
    code: codes[reason] ?? 500,
    ...(reason === "TooManyRequests" ? { details: { retryAfterSeconds: 1 } } : {}),
  });
}
