import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemRandom, type Random } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { failedAgain, retryWaitMs } from "./retry.ts";

const drawing = (float: number): Random => ({ ...systemRandom, float: () => float });
const middle = drawing(0.5);

suite("waits after failures", () => {
  test("double from one second to thirty, by 50 to 150 %, and no further", () => {
    const waits = (random: Random) =>
      [1, 2, 3, 4, 5, 6, 7, 40].map((attempts) =>
        retryWaitMs({ reason: "Unreachable", attempts }, random),
      );
    assert.deepEqual(waits(middle), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    assert.deepEqual(waits(drawing(0)).slice(0, 3), [500, 1_000, 2_000]);
    assert.deepEqual(
      waits(drawing(0.9999999)),
      [1_500, 3_000, 6_000, 12_000, 24_000, 30_000, 30_000, 30_000],
    );
  });

  test("are long at once for what somebody else must mend, and endless for a spec", () => {
    for (const reason of ["Conflict", "Refused", "NotConfigured", "MigrationFailed"] as const) {
      assert.equal(retryWaitMs({ reason, attempts: 1 }, middle), 30_000, reason);
    }
    assert.equal(retryWaitMs({ reason: "InvalidSpec", attempts: 1 }, middle), Infinity);
  });

  test("are as long as the service asks", () => {
    const waits = [500, 90_000].map((retryAfterMs) =>
      retryWaitMs({ reason: "Unreachable", attempts: 1, retryAfterMs }, middle),
    );
    assert.deepEqual(waits, [1_000, 90_000]);
  });
});

suite("attempts", () => {
  test("are those that were due, however often something else brings the app up meanwhile", async () => {
    const clock = new ManualClock();
    const parts = { clock, random: middle };
    const failure = { reason: "Unreachable", retryAfterMs: undefined } as const;
    const first = failedAgain(parts, undefined, failure);
    assert.deepEqual(first, { reason: "Unreachable", attempts: 1, untilMs: 1_000 });
    await clock.advance(999);
    assert.equal(failedAgain(parts, first, failure), first);
    await clock.advance(1);
    const second = failedAgain(parts, first, failure);
    assert.deepEqual(second, { reason: "Unreachable", attempts: 2, untilMs: 3_000 });
    // What is wrong otherwise is waited for otherwise.
    const refused = failedAgain(parts, second, { ...failure, reason: "Refused" });
    assert.deepEqual(refused, { reason: "Refused", attempts: 2, untilMs: 31_000 });
  });
});
