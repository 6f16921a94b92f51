import assert from "node:assert/strict";
import { test } from "node:test";

import { systemClock } from "@keelson/base";

import { eventually } from "./api.ts";

test("eventually lets timers bring about what it waits for", async () => {
  let isTrue = false;
  using _later = systemClock.after(5, () => (isTrue = true));
  await eventually(async () => isTrue, "the timer has fired");
  assert.ok(isTrue);
});
