import assert from "node:assert/strict";
import { test } from "node:test";

import { silentLog } from "./log.ts";
import { RecordingLog } from "./testing/recording-log.ts";

test("a silent log says nothing, and its children neither", () => {
  for (const log of [silentLog, silentLog.child({ a: 1 })]) {
    log.debug({}, "a");
    log.info({}, "b");
    log.warn({}, "c");
    log.error({}, "d");
  }
});

test("a recording log remembers its own lines and those of its children", () => {
  const log = new RecordingLog();
  const child = log.child({ controller: "preview", object: "a" });
  log.info({ port: 1 }, "listening");
  child.child({ generation: 2 }).warn({ object: "b" }, "slow");
  log.debug({}, "quiet");
  log.error({}, "broken");
  assert.deepEqual(log.entries, [
    { level: "info", message: "listening", fields: { port: 1 } },
    {
      level: "warn",
      message: "slow",
      fields: { controller: "preview", object: "b", generation: 2 },
    },
    { level: "debug", message: "quiet", fields: {} },
    { level: "error", message: "broken", fields: {} },
  ]);
  assert.deepEqual(log.messages("warn"), ["slow"]);
  assert.deepEqual(log.messages(), ["listening", "slow", "quiet", "broken"]);
});
