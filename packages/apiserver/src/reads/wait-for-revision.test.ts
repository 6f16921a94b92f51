import assert from "node:assert/strict";
import { once } from "node:events";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";

import { Api, messageOf } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const future = "resourceVersion=999999";

suite("a revision that is still to come", () => {
  for (const [name, path] of [
    ["LIST-4 is waited for by a list for three seconds, no longer", `${maps}?${future}`],
    ["LIST-4 exactly is, too", `${maps}?${future}&resourceVersionMatch=Exact`],
    ["and by a get", `${maps}/kube-root-ca.crt?${future}`],
    ["even of an object that is not there", `${maps}/nothing?${future}`],
  ] as const) {
    test(name, async (t) => {
      const clock = new ManualClock();
      await using server = await startTestServer({ clock }, t.signal);
      const arrived = once(server.api.server.listener, "request");
      const answered = new AbortController();
      const began = clock.monotonic();
      const reply = new Api(server.url, t.signal).get(path).finally(() => answered.abort());
      await arrived;
      while (!answered.signal.aborted) await clock.advance(100);
      const tookMs = clock.monotonic() - began;
      assert.ok(tookMs >= 3_000, `answered after ${tookMs} ms`);
      const { code, object } = await reply;
      const details = object["details"] as { retryAfterSeconds: number; causes: JsonObject[] };
      assert.deepEqual(
        [code, object["reason"], details.retryAfterSeconds, details.causes[0]?.["reason"]],
        [504, "Timeout", 1, "ResourceVersionTooLarge"],
      );
      assert.match(
        messageOf({ object }),
        /^Timeout: Too large resource version: 999999, current: \d+$/,
      );
    });
  }

  test("KB 7 ends a watch that wants the state at it, by an event", async (t) => {
    const clock = new ManualClock();
    await using server = await startTestServer({ clock }, t.signal);
    const path = `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${future}`;
    using watch = await new Api(server.url, t.signal).watch(path);
    const over = new AbortController();
    const events = watch.rest().finally(() => over.abort());
    while (!over.signal.aborted) await clock.advance(100);
    const [event, ...others] = await events;
    assert.deepEqual(
      [watch.code, event?.type, event?.object["code"], event?.object["reason"], others],
      [200, "ERROR", 504, "Timeout", []],
    );
  });
});
