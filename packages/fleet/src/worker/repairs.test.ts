import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { Repairs } from "./repairs.ts";

suite("repairs", () => {
  /** Undoes every repair of a field as soon as it was made, and gives the waits in seconds. */
  async function quarrel(repairs: Repairs, clock: ManualClock, rounds: number): Promise<number[]> {
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const waitMs = repairs.waitMs(1, ["/data/a"], `${clock.monotonic()} ${round}`);
      waits.push(waitMs / 1_000);
      await clock.advance(waitMs + 10);
    }
    return waits;
  }

  test("the third within a minute waits a second, and each after it twice as long, up to five minutes", async () => {
    const clock = new ManualClock();
    const waits = await quarrel(new Repairs(clock), clock, 13);
    assert.deepEqual(waits, [0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  test("a minute of peace ends it", async () => {
    const clock = new ManualClock();
    const repairs = new Repairs(clock);
    await quarrel(repairs, clock, 9);
    await clock.advance(60_001);
    assert.deepEqual(await quarrel(repairs, clock, 3), [0, 0, 1]);
  });

  test("what differs before the next apply is one repair, however often it is seen", () => {
    const clock = new ManualClock();
    const repairs = new Repairs(clock);
    const seen = ["7", "7", "7", "8", "8", "9", "9"];
    assert.deepEqual(
      seen.map((applied) => repairs.waitMs(1, ["/data/a"], applied)),
      [0, 0, 0, 0, 0, 1_000, 1_000],
    );
  });

  test("fields and rows have quarrels of their own", async () => {
    const clock = new ManualClock();
    const repairs = new Repairs(clock);
    await quarrel(repairs, clock, 4);
    assert.equal(repairs.waitMs(1, ["/data/b"], "x"), 0);
    assert.equal(repairs.waitMs(2, ["/data/a"], "x"), 0);
    assert.equal(repairs.waitMs(1, ["/data/b", "/data/a"], "y"), 4_000);
  });
});
