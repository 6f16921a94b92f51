import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { requeueAfter } from "@keelson/controller";

import { Lanes } from "./lanes.ts";
import { Memories } from "./memory.ts";
import { visits, type VisitsOptions } from "./visits.ts";

test("what could not be seen to is waited for longer each time it was due, and anew for another generation", async (t) => {
  const clock = new ManualClock();
  const kind = { apiVersion: "platform.internal/v1alpha1", kind: "Application" };
  const ref = { namespace: "default", name: "shop" };
  let generation = 1;
  const memory = new Memories().of("default/shop", "1");
  const reconcile = visits({
    kind,
    parts: {
      clock,
      random: { ...systemRandom, float: () => 0.5 },
      log: silentLog,
      lanes: new Lanes({ workers: 2, call: () => undefined }),
    },
    resource: { find: () => Promise.resolve({ ...kind, metadata: { ...ref, generation } }) },
    // Of which nothing can be said either.
    seen: { memoryOf: () => memory, statusOf: () => ({ isBehind: true }) },
    see: () => Promise.reject(Object.assign(new Error("reset"), { code: "ECONNRESET" })),
    end: () => Promise.resolve(undefined),
  } as unknown as VisitsOptions);
  const results: unknown[] = [];
  const look = async (afterMs: number): Promise<void> => {
    await clock.advance(afterMs);
    results.push(await reconcile(ref, t.signal));
  };
  await look(0);
  await look(400);
  await look(600);
  await look(2_000);
  generation = 2;
  await look(0);
  assert.deepEqual(results, [1_000, 600, 2_000, 4_000, 1_000].map(requeueAfter));
});
