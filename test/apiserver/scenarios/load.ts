// Load: LOAD-1 to LOAD-5, at the real process, straight or through a host. What is fact is judged; how fast it was is told.

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import type { JsonObject } from "@keelson/base";

import {
  failuresOf,
  LoadGenerator,
  missedBy,
  type LoadOptions,
  type LoadResult,
} from "../loadgen.ts";
import { configMap } from "../objects.ts";
import { agent, ark } from "./ark.ts";
import { residentMegabytes, ScenarioBed, tell, type Scenarios, type StartServer } from "./bed.ts";
import { isAtLength, measure } from "./length.ts";
import { metricsOf } from "./metrics.ts";
import { SlowWatcher } from "./slow-watcher.ts";

const watchers = measure({ gate: 60, full: 1_000 });
const rate = 100;

/** For the servers of these scenarios: whoever reads an event a second through the whole of LOAD-2 must not be overtaken by compaction. */
export const loadFlags = isAtLength ? ["--compaction-interval", "1h"] : [];

/** What is written. */
export interface LoadObjects {
  readonly collectionOf: (namespace: string) => string;
  /** One by itself, with a text so long in it. */
  readonly object: (name: string, textChars?: number) => JsonObject;
  /** How the load generator writes those whose names start with `prefix`. */
  readonly written: (how?: Written) => Pick<LoadOptions, "prefix" | "size" | "template" | "patch">;
}

interface Written {
  readonly prefix?: string;
  readonly size?: number;
}

export const configMaps: LoadObjects = {
  collectionOf: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  object: (name, textChars = 0) => configMap(name, { text: "x".repeat(textChars) }),
  written: (how = {}) => how,
};

/** Custom objects: written by patches, since nobody may replace one without a version. */
export const agents: LoadObjects = {
  collectionOf: (namespace) => ark(namespace, "agents"),
  object: (name, textChars = 1) => agent(name, {}, "x".repeat(textChars)),
  written: ({ prefix = "load", size = 1_000 } = {}) => {
    // Watchers ask for the label, and find the stamp.
    const metadata = { labels: { load: prefix }, annotations: { stamp: "{stamp}" } };
    return { prefix, template: agent("{name}", metadata, "x".repeat(size)), patch: true };
  },
};

/** What a server says of its log since it was last cut. */
interface Cut {
  readonly head: number;
  readonly rows: number;
  readonly bytes: number;
}

async function cutOf(server: { readonly dataDir: string }, signal: AbortSignal): Promise<Cut> {
  const samples = await metricsOf(server, signal);
  const valueOf = (name: string): number =>
    samples.find((sample) => sample.name === name)?.value ?? NaN;
  return {
    head: valueOf("keelson_store_head_revision"),
    rows: valueOf("keelson_store_log_rows"),
    bytes: valueOf("keelson_store_size_bytes"),
  };
}

/** Nothing failed, and every watcher saw every write. */
function assertNothingLost(result: LoadResult): void {
  assert.deepEqual([missedBy(result), result.errors], [undefined, {}], result.sample);
}

export interface LoadScenarioOptions {
  readonly objects: LoadObjects;
  readonly start: StartServer;
}

/** LOAD-1 to LOAD-5. */
export const loadScenarios =
  ({ objects, start }: LoadScenarioOptions): Scenarios =>
  (it) => {
    it(`LOAD-1 ${watchers} watchers, ${rate} writes a second: nothing is lost, memory stays`, async (bed) => {
      using load = new LoadGenerator(bed.server);
      using memory = new Peak(bed);
      const seconds = measure({ gate: 3, full: 60 });
      const path = objects.collectionOf(await bed.namespace("load-1"));
      const options = { verb: "watch", path, rate, ...objects.written() } as const;
      const one = await load.run({ ...options, watchers: 1, seconds }, bed.signal);
      const many = await load.run(
        { ...options, watchers, seconds, ...objects.written({ prefix: "many" }) },
        bed.signal,
      );
      for (const [what, result] of [
        ["1 watcher", one],
        [`${watchers} watchers`, many],
      ] as const) {
        assertNothingLost(result);
        tell(bed, `${what}: writes`, result.rate, "/s");
        tell(bed, `${what}: write → event, p99`, result.p99, "ms");
      }
      tell(bed, "resident memory", memory.megabytes, "MB");
      assert.ok(memory.megabytes < 1_500);
    });

    it(`LOAD-2 one of ${watchers} watchers reads an event a second: the others do not wait, and it loses nothing`, async (bed) => {
      using load = new LoadGenerator(bed.server);
      const collection = objects.collectionOf(await bed.namespace("load-2"));
      const seconds = measure({ gate: 3, full: 500 });
      const options = {
        verb: "watch",
        path: collection,
        rate,
        seconds,
        ...objects.written(),
      } as const;
      const others = watchers - 1;
      const without = await load.run(
        {
          ...options,
          seconds: measure({ gate: 3, full: 60 }),
          watchers: others,
          ...objects.written({ prefix: "without" }),
        },
        bed.signal,
      );
      assertNothingLost(without);
      const before = residentMegabytes(bed.server.pid);
      using memory = new Peak(bed);
      const from = await bed.revisionOf(collection);
      const slowly = { server: bed.server, path: collection, from, everyMs: 1_000 };
      await using slow = await SlowWatcher.open(slowly, bed.signal);
      const beside = await load.run(
        { ...options, watchers: others, ...objects.written({ prefix: "with" }) },
        bed.signal,
      );
      assertNothingLost(beside);
      const last = await lastRevision(bed, collection, objects);
      const behind = slow.count;
      assert.ok(behind < beside.requests / 2, "it was not slow");
      const { revisions, ends } = await slow.catchUp(last);
      // What the log holds, which one who comes now is told in one go; the writer warms up, so it is more than its requests.
      await using replay = await SlowWatcher.open(slowly, bed.signal);
      const all = await replay.catchUp(last);
      assert.deepEqual(revisions, all.revisions, `it ended as: ${ends.join()}`);
      assert.ok(revisions.length > beside.requests);
      assert.ok(revisions.every((revision, index) => revision > (revisions[index - 1] ?? 0)));
      tell(bed, "writes beside it", beside.requests, "");
      tell(bed, "events it had read by then", behind, "");
      tell(bed, "the others' p99 without it", without.p99, "ms");
      tell(bed, "the others' p99 beside it", beside.p99, "ms");
      tell(bed, "growth of resident memory", memory.megabytes - before, "MB");
      assert.ok(memory.megabytes < 1_500);
    });

    it("LOAD-3 16 clients write for long: no errors, and sizes level off", async (bed) => {
      const seconds = measure({ gate: 8, full: 1_800 });
      const flags = ["--compaction-interval", `${Math.floor(seconds / 6)}s`];
      await using server = await start({ driver: bed.driver, flags }, bed.signal);
      const own = new ScenarioBed(server, bed);
      using load = new LoadGenerator(server);
      const updates = {
        verb: "update",
        path: objects.collectionOf(await own.namespace("load-3")),
        objects: 1_000,
        clients: 16,
        ...objects.written(),
      } as const;
      const filled = await load.run({ ...updates, verb: "fill" }, bed.signal);
      assert.deepEqual([filled.requests, filled.errors], [1_000, {}]);
      const cuts: Cut[] = [];
      const over = new AbortController();
      using stopping = new DisposableStack();
      stopping.defer(() => over.abort());
      const sampling = (async () => {
        // The log is measured when the server starts, and after each cut.
        let last = (await cutOf(server, bed.signal)).rows;
        while (!over.signal.aborted) {
          const cut = await cutOf(server, bed.signal);
          if (cut.rows !== last) cuts.push(cut);
          last = cut.rows;
          await wait((seconds * 1_000) / 60, undefined, { signal: over.signal }).catch(
            () => undefined,
          );
        }
      })();
      sampling.catch(() => undefined); // It is awaited below.
      let result: LoadResult;
      let turns = 0;
      do {
        // Another size each time: what would change nothing is not written.
        const size = 1_000 + turns;
        result = await load.run({ ...updates, seconds, ...objects.written({ size }) }, bed.signal);
        assert.equal(failuresOf(result), 0, result.sample);
        turns += 1;
      } while (cuts.length < 4 && turns < 5);
      over.abort();
      await sampling;
      tell(own, "writes", result.rate, "/s");
      tell(own, "p99", result.p99, "ms");
      tell(own, "resident memory", residentMegabytes(server.pid), "MB");
      assert.ok(cuts.length >= 4, `the log was cut ${cuts.length} times`);
      for (const [index, { head, rows }] of cuts.entries()) {
        const before = cuts[index - 2];
        if (before === undefined) continue;
        // Each cut is at the head of the one before it; what is committed meanwhile is not in the head that is shown.
        const written = head - before.head + 100;
        assert.ok(rows <= written, `${rows} rows are left of ${written}: ${JSON.stringify(cuts)}`);
      }
      const [middle, end] = [1 / 3, 2 / 3].map((from) => {
        const third = cuts.slice(cuts.length * from, cuts.length * (from + 1 / 3));
        const most = (what: "rows" | "bytes") => Math.max(...third.map((cut) => cut[what]));
        return { rows: most("rows"), bytes: most("bytes") };
      });
      assert.ok(middle !== undefined && end !== undefined);
      for (const [what, unit] of [
        ["rows", ""],
        ["bytes", "bytes"],
      ] as const) {
        tell(own, `${what} in the middle third`, middle[what], unit);
        tell(own, `${what} in the last third`, end[what], unit);
      }
      // Writes come faster and slower; what never levels off grows far beyond that.
      const grew = `bytes grew from ${middle.bytes} to ${end.bytes}`;
      assert.ok(end.bytes > 0 && end.bytes < 2 * middle.bytes + 16_000_000, grew);
    });

    it("LOAD-4 16 writers beside watchers: each watcher sees every write, all the same", async (bed) => {
      using load = new LoadGenerator(bed.server);
      const seconds = measure({ gate: 2, full: 60 });
      const collection = objects.collectionOf(await bed.namespace("load-4"));
      const updates = {
        verb: "update",
        path: collection,
        objects: 1_000,
        clients: 16,
        ...objects.written(),
      } as const;
      await load.run({ ...updates, verb: "fill" }, bed.signal);
      const alone = await load.run({ ...updates, seconds }, bed.signal);
      const following = 10;
      await using followers = await load.follow(
        { path: collection, watchers: following },
        bed.signal,
      );
      // Another size: what would change nothing is not written.
      const watched = await load.run(
        { ...updates, seconds, ...objects.written({ size: 1_100 }) },
        bed.signal,
      );
      const seen = await followers.until(await lastRevision(bed, collection, objects));
      for (const result of [alone, watched]) assert.equal(failuresOf(result), 0, result.sample);
      assert.deepEqual(
        [seen.errors, seen.streams, seen.seen],
        [{}, 1, following * (watched.requests + 1)],
      );
      tell(bed, "writes, nobody watching", alone.rate, "/s");
      tell(bed, `writes, ${following} watching`, watched.rate, "/s");
    });

    it("LOAD-5 objects of a megabyte, 20 a second, reach every watcher; more than 3 MiB is refused", async (bed) => {
      using load = new LoadGenerator(bed.server);
      const seconds = measure({ gate: 2, full: 30 });
      const collection = objects.collectionOf(await bed.namespace("load-5"));
      const options = {
        verb: "watch",
        path: collection,
        rate: 20,
        ...objects.written({ size: 1_000_000 }),
      } as const;
      const result = await load.run({ ...options, watchers: 4, seconds }, bed.signal);
      assertNothingLost(result);
      tell(bed, "writes", result.rate, "/s");
      tell(bed, "write → event, p99", result.p99, "ms");
      tell(bed, "resident memory", residentMegabytes(bed.server.pid), "MB");
      const large = objects.object("large", 3 * 1024 * 1024);
      const { status, text } = await bed.send("POST", collection, large);
      assert.equal(status, 413, text.slice(0, 300));
    });
  };

/** Writes a last object, and answers its revision: the store's head may be beyond what the collection's watchers see. */
async function lastRevision(
  bed: ScenarioBed,
  collection: string,
  { object }: LoadObjects,
): Promise<number> {
  const { metadata } = await bed.must("POST", collection, object("zz-last"));
  return Number(metadata.resourceVersion);
}

/** The most resident memory that the server has while this lives. */
class Peak implements Disposable {
  readonly #bed: ScenarioBed;
  readonly #timer: NodeJS.Timeout;
  #most = 0;

  constructor(bed: ScenarioBed) {
    this.#bed = bed;
    this.#timer = setInterval(() => this.#look(), 200);
  }

  get megabytes(): number {
    this.#look();
    return this.#most;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#most = Math.max(this.#most, residentMegabytes(this.#bed.server.pid));
  }
}
