// Writes a number of events to a store, watched and compacted all along, and tells its parent how it fares.

import { type Backend, Body, type Revision, type Store } from "@keelson/store";
import { type BackendName, keyOf, kind, never, openStore, scope } from "../fixtures.ts";

export interface LongRunRequest {
  readonly name: BackendName;
  readonly database: string;
  readonly events: number;
}

export interface Sample {
  readonly events: number;
  readonly elapsedMs: number;
  readonly rss: number;
  readonly bytes: number;
}

const writers = 256;
const objects = 10_000;
const compactionEveryMs = 5000;
const sampleEveryMs = 1000;

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as LongRunRequest);

async function main({ name, database, events }: LongRunRequest): Promise<void> {
  const opened = await openStore(name, database, { compactionEveryMs });
  await using store = opened.store;
  const done = new AbortController();
  const watchers = [
    ...Array.from({ length: 20 }, () => follow(store, { signal: done.signal, pauseMs: 0 })),
    // Too slow for the live feed: it reads the log, and expires now and then.
    follow(store, { signal: done.signal, pauseMs: 50 }),
  ];
  const progress = { events: 0 };
  const sampling = sample(opened.backend, progress, done.signal);
  await Promise.all(
    Array.from({ length: writers }, (_, writer) => write(store, { writer, events, progress })),
  );
  done.abort();
  await Promise.all([...watchers, sampling]);
  process.disconnect();
}

/** Creates, updates and, now and then, deletes objects that are this writer's own. */
async function write(
  store: Store,
  { writer, events, progress }: { writer: number; events: number; progress: { events: number } },
): Promise<void> {
  const own = Math.ceil(objects / writers);
  const revisions: (Revision | undefined)[] = Array.from({ length: own });
  for (let turn = 0; progress.events < events; turn += 1) {
    progress.events += 1;
    const slot = turn % own;
    const key = keyOf(writer * own + slot);
    const revision = revisions[slot];
    if (revision === undefined) {
      revisions[slot] = (await store.create(key, body(key.name, turn), never)).revision;
    } else if (turn % 16 === 0) {
      await store.delete(key, { expect: { revision } }, never);
      revisions[slot] = undefined;
    } else {
      const change = { body: body(key.name, turn), expect: { revision } };
      revisions[slot] = (await store.update(key, change, never)).revision;
    }
  }
}

function body(name: string, turn: number): Body {
  return Body.of({
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind,
    metadata: { name, uid: `uid-${name}`, labels: { app: "assistant" } },
    spec: { turn, input: "Summarise what has changed in the account since the last review." },
  });
}

async function follow(
  store: Store,
  { signal, pauseMs }: { readonly signal: AbortSignal; readonly pauseMs: number },
): Promise<void> {
  while (!signal.aborted) {
    try {
      using watch = await store.watch(scope, { from: await store.head(never) }, signal);
      for (let items = await watch.next(); items !== undefined; items = await watch.next()) {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    } catch (error) {
      const isExpired = error instanceof Error && "code" in error && error.code === "Expired";
      if (!isExpired && !signal.aborted) throw error;
    }
  }
}

async function sample(backend: Backend, progress: { events: number }, signal: AbortSignal) {
  const start = performance.now();
  const send = async (): Promise<void> => {
    const { rss } = process.memoryUsage();
    const { bytes } = await backend.size(never);
    const { events } = progress;
    process.send?.({ events, elapsedMs: performance.now() - start, rss, bytes });
  };
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, sampleEveryMs));
    await send();
  }
}
