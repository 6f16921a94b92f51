// What a reflector does is proved by simulation (test/simulation/loops) and before real servers; here, how often it asks.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { noMetrics, silentLog, systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import { clientMetrics } from "../metrics.ts";
import type { WatchEvent } from "../watch.ts";
import type { Collection, CollectionWatch } from "./collection.ts";
import type { Mirror } from "./mirror.ts";
import { runReflector } from "./reflector.ts";

/** A collection without objects whose watches last as long as they are asked to, and say nothing after their state. */
function quietCollection(clock: ManualClock, isInProcess: boolean) {
  let watches = 0;
  async function* events(
    { timeoutSeconds, sendInitialEvents = false }: CollectionWatch,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    if (sendInitialEvents) yield { type: "BOOKMARK", resourceVersion: "1", isInitialEnd: true };
    await clock.sleep(timeoutSeconds * 1_000, signal);
  }
  const collection: Collection = {
    isInProcess,
    list: () => Promise.reject(new Error("nobody asks for it")),
    probe: () => Promise.resolve("1"),
    renewConnections: () => {},
    watch: (request, signal) => {
      watches += 1;
      return Promise.resolve(events(request, signal));
    },
  };
  return { collection, watches: () => watches };
}

const mirror: Mirror = {
  known: () => "",
  replace: () => {},
  change: () => {},
  bookmark: () => {},
};

/** How many watches a quiet hour takes. */
async function watchesInAnHour(isInProcess: boolean): Promise<number> {
  const clock = new ManualClock();
  const { collection, watches } = quietCollection(clock, isInProcess);
  const stop = new AbortController();
  const shared = { clock, random: systemRandom, log: silentLog, metrics: clientMetrics(noMetrics) };
  const running = runReflector({ collection, mirror, ...shared }, stop.signal);
  for (let second = 0; second < 3_600; second++) await clock.advance(1_000);
  stop.abort();
  await running;
  return watches();
}

suite("a reflector of a collection in which nothing happens", () => {
  test("asks again every few seconds over a network, and every few minutes in its own process", async () => {
    const [far, near] = [await watchesInAnHour(false), await watchesInAnHour(true)];
    assert.ok(far >= 200, `${far} watches of a server somewhere`);
    assert.ok(near >= 6 && near <= 15, `${near} watches of a server in the process`);
  });
});
