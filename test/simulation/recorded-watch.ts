// A watch whose every item is recorded.

import type { Watch, WatchItem } from "@keelson/store";
import { type ClientOptions, errorFact, selectorOf } from "./client.ts";
import type { ErrorFact, ItemFact, LabelFact, ScopeFact } from "./history.ts";

export interface WatchRequest {
  readonly id: string;
  readonly scope: ScopeFact;
  readonly selector?: LabelFact;
  readonly from: number | "state";
  readonly bookmarkEveryMs?: number;
  readonly initialEventsEnd: boolean;
  readonly pace: "fast" | "slow";
}

/** Opens the watch; undefined if the store refused, which is recorded too. */
export async function openWatch(
  options: ClientOptions,
  request: WatchRequest,
  signal: AbortSignal,
): Promise<RecordedWatch | undefined> {
  const { store, recorder, replica } = options;
  const { id, scope, selector, from, bookmarkEveryMs, initialEventsEnd, pace } = request;
  recorder.record({
    type: "watch",
    watch: id,
    replica,
    scope,
    ...(selector === undefined ? {} : { selector }),
    from,
    hasBookmarks: bookmarkEveryMs !== undefined,
    initialEventsEnd,
    pace,
  });
  try {
    const watch = await store.watch(
      scope,
      {
        from,
        initialEventsEnd,
        ...(selector === undefined ? {} : { selector: selectorOf(selector) }),
        ...(bookmarkEveryMs === undefined ? {} : { bookmarkEveryMs }),
      },
      signal,
    );
    recorder.record({ type: "watching", watch: id });
    return new RecordedWatch(options, request, watch, signal);
  } catch (error) {
    recorder.record({ type: "ended", watch: id, error: errorFact(error, signal) });
    return undefined;
  }
}

/** An open watch. */
export class RecordedWatch {
  readonly request: WatchRequest;
  readonly replica: string;
  readonly #options: ClientOptions;
  readonly #watch: Watch;
  readonly #signal: AbortSignal;
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  #reading: Promise<void> | undefined;

  constructor(options: ClientOptions, request: WatchRequest, watch: Watch, signal: AbortSignal) {
    this.#options = options;
    this.request = request;
    this.replica = options.replica;
    this.#watch = watch;
    this.#signal = signal;
  }

  /** Resolves when nothing more will be read. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get position(): number {
    return this.#watch.position;
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Reads once, unless a read is under way. */
  readOnce(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads to the end of the stream. */
  async readAll(): Promise<void> {
    while (!this.#isOver) await this.readOnce();
  }

  /** Lets the watch go; what a read under way still hands out is recorded before the end. */
  close(): void {
    this.#watch[Symbol.dispose]();
    void this.readAll();
  }

  async #read(): Promise<void> {
    const { recorder } = this.#options;
    const { id: watch } = this.request;
    try {
      const items = await this.#watch.next();
      if (items === undefined) {
        this.#end();
        return;
      }
      recorder.record({ type: "items", watch, items: items.map(itemFact) });
    } catch (error) {
      this.#end(errorFact(error, this.#signal));
    }
  }

  #end(error?: ErrorFact): void {
    this.#isOver = true;
    const { position } = this.#watch;
    const { recorder } = this.#options;
    const ended = { type: "ended" as const, watch: this.request.id, position };
    recorder.record(error === undefined ? ended : { ...ended, error });
    this.#over.resolve();
  }
}

function itemFact(item: WatchItem): ItemFact {
  if (item.type === "BOOKMARK") {
    const { type, revision, initialEventsEnd } = item;
    return { type, revision, initialEventsEnd };
  }
  const { type, key, uid, revision, body } = item;
  return { type, key, uid, revision, body: body.text };
}
