import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import { DueTimes } from "./due-times.ts";

suite("DueTimes", () => {
  test("keys that are cancelled and due anew all the time do not pile up, and each is due once", async () => {
    const clock = new ManualClock();
    const random = seededRandom("due");
    const fired: string[] = [];
    using due = new DueTimes(clock, (key) => fired.push(key));
    const atMs = new Map<string, number>();
    for (let round = 0; round < 5_000; round++) {
      const key = `k${random.integer(20)}`;
      const ms = 3_600_000 + random.integer(1_000_000);
      due.cancel(key);
      due.sooner(key, ms);
      atMs.set(key, ms);
      assert.ok(due.kept <= 2 * due.size + 64, `${due.kept} are kept for ${due.size}`);
    }
    await clock.advance(5_000_000);
    const expected = [...atMs].toSorted(([, a], [, b]) => a - b).map(([key]) => key);
    assert.deepEqual([fired, due.size, due.kept], [expected, 0, 0]);
  });
});
