import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../clock.ts";
import { until } from "./until.ts";

test("until lets timers bring about what it waits for", async () => {
  let isTrue = false;
  using _later = systemClock.after(5, () => (isTrue = true));
  await until(() => isTrue, "the timer has fired");
  assert.ok(isTrue);
});
