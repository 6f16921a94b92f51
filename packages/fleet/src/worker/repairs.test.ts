import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { Repairs } from "./repairs.ts";

suite("repairs", () => {
  /** Undoes every repair of a field as soon as it was made, and gives the waits in seconds. */
  async function quarrel(repairs: Repairs, clock: ManualClock, rounds: number): Promise<number[]> {
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const version = `${clock.monotonic()} ${round}`;
      const waitMs = repairs.waitMs(1, ["/data/a"], { applied: version, seen: version });
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
    // The one that is seen at 12 is compared again once the apply of 8 is recorded.
    const seen = ["7 10", "7 11", "7 12", "8 12", "8 13", "9 14", "9 15", "10 16", "11 16"];
    const waits = seen.map((one) => {
      const [applied = "", version = ""] = one.split(" ");
      return repairs.waitMs(1, ["/data/a"], { applied, seen: version });
    });
    assert.deepEqual(waits, [0, 0, 0, 0, 0, 0, 0, 1_000, 1_000]);
  });

  test("what was right in between is repaired again, also before the apply is recorded that made it so", () => {
    const clock = new ManualClock();
    const repairs = new Repairs(clock);
    const seen = [["/data/a"], [], ["/data/a"], ["/data/b"], ["/data/a", "/data/b"]];
    assert.deepEqual(
      seen.map((fields, at) => repairs.waitMs(1, fields, { applied: "7", seen: `${at}` })),
      [0, 0, 0, 0, 1_000],
    );
  });

  test("fields and rows have quarrels of their own", async () => {
    const clock = new ManualClock();
    const repairs = new Repairs(clock);
    await quarrel(repairs, clock, 4);
    const at = (version: string) => ({ applied: version, seen: version });
    assert.equal(repairs.waitMs(1, ["/data/b"], at("x")), 0);
    assert.equal(repairs.waitMs(2, ["/data/a"], at("x")), 0);
    assert.equal(repairs.waitMs(1, ["/data/b", "/data/a"], at("y")), 4_000);
  });
});
