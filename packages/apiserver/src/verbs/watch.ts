import { writeJson, type Json, type JsonObject } from "@keelson/base";
import { apiVersionOf, partialMetadata } from "@keelson/kube";
import type { Bookmark, Change, Revision, Watch, WatchItem } from "@keelson/store";

import type { AnswerFormat } from "../encoding/answer-format.ts";
import { JoinedEvents, runsOf } from "../encoding/joined-events.ts";
import { objectOf, objectText } from "../encoding/object-text.ts";
import { json } from "../encoding/read-body.ts";
import { tableOf } from "../encoding/write-table.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import { toStatusError } from "../errors.ts";
import type { Streaming } from "../http/answer.ts";
import { Chunk } from "../http/chunk.ts";
import type { ResourceExchange } from "../http/exchange.ts";
import type { Sink } from "../http/sink.ts";
import { listOptions, revisionFrom, type ListOptions } from "../reads/list-options.ts";
import { waitForRevision } from "../reads/wait-for-revision.ts";
import type { Resource } from "../resources/resource.ts";
import { storageOf } from "../writes/write-request.ts";
import { formatFor, type Verb, type Verbs } from "./verb.ts";
import { WatchLifetime } from "./watch-lifetime.ts";

/** How often a client that wants bookmarks gets one (KB 6). */
const bookmarkEveryMs = 60_000;

/** About how much of several events is written at once; one event is written whole. */
const eventBytesMax = 32 * 1024;

/** Streams the changes of a collection, until somebody has had enough. */
export const watch: Verb = async (verbs, exchange) => {
  const { resource, info, query } = exchange;
  const format = formatFor(exchange, { isWatch: true });
  const options = listOptions(resource, query, {
    isWatch: true,
    name: info.isNamed ? info.name : "",
  });
  revisionFrom(options.resourceVersion); // Fails before the stream, or not at all.
  return Promise.resolve<Streaming>({
    code: 200,
    contentType: contentTypeOf(format.mediaType, { isWatch: true }),
    isEndless: true,
    stream: (sink, signal) => streamChanges(verbs, exchange, { format, options, sink }, signal),
  });
};

interface Stream {
  readonly format: AnswerFormat;
  readonly options: ListOptions;
  readonly sink: Sink;
}

/** Once the headers are out there is no status line left: a failure is the last event (KB 4). */
async function streamChanges(
  verbs: Verbs,
  { resource, info }: ResourceExchange,
  { format, options, sink }: Stream,
  signal: AbortSignal,
): Promise<void> {
  using lifetime = new WatchLifetime(verbs, resource, options);
  const until = AbortSignal.any([signal, lifetime.signal]);
  const writer = new EventWriter(verbs, resource, format);
  let position: number | undefined;
  try {
    using changes = await openWatch(verbs, { resource, info }, options, until);
    lifetime.follow(changes);
    const { group, version, kind } = resource;
    const events = verbs.metrics.watchEvents.with({ group, version, kind });
    // Not `for await`: its promises would be most of what a watcher costs. Asking for more says that the socket took the last.
    for (let batch = await changes.next(); batch !== undefined; batch = await changes.next()) {
      const items = visible(batch, options);
      for (const run of items.length < 2 ? [items] : writer.runs(items)) {
        if (run.length === 0) continue;
        const turn = verbs.streamTurns.take();
        if (turn !== undefined) await turn;
        // Only now: what is watched may have become another while this waited.
        const own = upTo(lifetime.through, run);
        if (own.length === 0) continue;
        events.add(own.length);
        const drained = sink.write(writer.write(own));
        if (drained !== undefined) await drained;
      }
      lifetime.look();
    }
    if (!changes.isAhead) position = Math.min(changes.position, lifetime.through);
  } catch (error) {
    if (signal.aborted || lifetime.signal.aborted) return;
    const failed = sink.write(writer.writeError(toStatusError(error).status));
    if (failed !== undefined) await failed;
    return;
  }
  // The client is told how far it came, so that its next watch has little to catch up with.
  if (options.allowWatchBookmarks && position !== undefined && position > 0) {
    const mark: Bookmark = { type: "BOOKMARK", revision: position, initialEventsEnd: false };
    const marked = sink.write(writer.write([mark]));
    if (marked !== undefined && !signal.aborted) await marked;
  }
}

/** The mark that ends the initial state is a bookmark: only who asked for them gets it (KB 8). */
function visible(batch: readonly WatchItem[], options: ListOptions): readonly WatchItem[] {
  if (options.allowWatchBookmarks) return batch;
  return batch.some(({ type }) => type === "BOOKMARK")
    ? batch.filter(({ type }) => type !== "BOOKMARK")
    : batch;
}

function upTo(revision: Revision, run: readonly WatchItem[]): readonly WatchItem[] {
  return revision === Number.POSITIVE_INFINITY
    ? run
    : run.filter((item) => item.revision <= revision);
}

async function openWatch(
  { store, clock }: Verbs,
  { resource, info }: Pick<ResourceExchange, "resource" | "info">,
  options: ListOptions,
  signal: AbortSignal,
): Promise<Watch> {
  const scope = {
    kind: storageOf(resource),
    namespace: resource.isNamespaced ? info.namespace : "",
  };
  const revision = revisionFrom(options.resourceVersion);
  const marks = options.allowWatchBookmarks ? { bookmarkEveryMs } : {};
  const { selector, sendInitialEvents } = options;
  if (revision !== undefined && !sendInitialEvents) {
    return store.watch(scope, { selector, from: revision, ...marks }, signal);
  }
  if (revision !== undefined) await waitForRevision({ store, clock }, revision, signal);
  // A watch without a revision and without the state begins with whatever comes next.
  const from = sendInitialEvents || revision !== undefined ? "state" : await store.head(signal);
  return store.watch(
    scope,
    { selector, from, initialEventsEnd: sendInitialEvents, ...marks },
    signal,
  );
}

/** Events in the format of one stream. Watchers of one resource that want plain JSON share the bytes. */
class EventWriter {
  readonly #verbs: Verbs;
  readonly #resource: Resource;
  readonly #format: AnswerFormat;
  readonly #isPlain: boolean;
  #hasHeaders = true;

  constructor(verbs: Verbs, resource: Resource, format: AnswerFormat) {
    this.#verbs = verbs;
    this.#resource = resource;
    this.#format = format;
    this.#isPlain = format.shape === "object" && format.mediaType === json;
  }

  write(items: readonly WatchItem[]): Chunk {
    const [first] = items;
    if (first !== undefined && items.length === 1) return this.#writeOne(first);
    return joinedOf(this.#resource).join(items, (item) => this.#writeOne(item));
  }

  /** What is written at once: a client that does not read holds no more of it than that. */
  runs(items: readonly WatchItem[]): Iterable<readonly WatchItem[]> {
    // What is made for each watcher is made once: the first event of a Table has its headers.
    if (!this.#isPlain) return items.map((item) => [item]);
    return runsOf(items, (item) => this.#writeOne(item).framed.length, eventBytesMax);
  }

  writeError(status: object): Chunk {
    return this.#frame("ERROR", status as JsonObject);
  }

  #writeOne(item: WatchItem): Chunk {
    if (item.type === "BOOKMARK") return this.#frame("BOOKMARK", this.#bookmark(item));
    if (this.#isPlain) return item.encoded(plainEncoder(this.#resource));
    return this.#frame(item.type, this.#shaped(objectOf(this.#resource, item)));
  }

  #bookmark({ revision, initialEventsEnd }: Bookmark): JsonObject {
    const resource = this.#resource;
    const mark: JsonObject = {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      ...resource.model.empty,
      metadata: {
        resourceVersion: String(revision),
        ...(initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
      },
    };
    return this.#shaped(mark);
  }

  #shaped(object: JsonObject): JsonObject {
    const { shape } = this.#format;
    if (shape === "metadata") return partialMetadata(object);
    if (shape === "object") return object;
    const hasHeaders = this.#hasHeaders;
    this.#hasHeaders = false;
    const { metadata = {} } = object;
    const { resourceVersion = "" } = metadata as Record<string, Json>;
    return tableOf(
      this.#resource,
      { objects: [object], metadata: { resourceVersion }, hasHeaders },
      this.#format,
      this.#verbs.clock.now(),
    );
  }

  #frame(type: string, object: JsonObject): Chunk {
    const { mediaType } = this.#format;
    if (mediaType === json) return Chunk.of(`{"type":"${type}","object":${writeJson(object)}}\n`);
    const { codec } = this.#verbs;
    const raw = writeValue(object, { mediaType, isPretty: false }, codec) as Uint8Array;
    return framed(codec.encodeWatchEvent(type, raw));
  }
}

/** A protobuf stream says the length of each event before it. */
function framed(event: Uint8Array): Chunk {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Chunk.join([length, event]);
}

const encoders = new WeakMap<Resource, (change: Change) => Chunk>();

/** The same function for the same resource: a change is encoded once for all of its watchers. */
function plainEncoder(resource: Resource): (change: Change) => Chunk {
  let encoder = encoders.get(resource);
  if (encoder === undefined) {
    encoder = (change) =>
      Chunk.of(`{"type":"${change.type}","object":${objectText(resource, change)}}\n`);
    encoders.set(resource, encoder);
  }
  return encoder;
}

const joined = new WeakMap<Resource, JoinedEvents<WatchItem>>();

/** The same for the same resource. */
function joinedOf(resource: Resource): JoinedEvents<WatchItem> {
  let events = joined.get(resource);
  if (events === undefined) joined.set(resource, (events = new JoinedEvents()));
  return events;
}
