import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";

import { Deadlines } from "./deadlines.ts";
import { requestInfo } from "./request-info.ts";
import { requestTimeoutMs } from "./request-timeout.ts";

suite("deadlines", () => {
  test("end what is late, at most a quarter of a second after its time, and never before", async () => {
    const clock = new ManualClock();
    using deadlines = new Deadlines(clock);
    const abortedAt = new Map<number, number>();
    for (const ms of [1, 249, 250, 251, 1_000, 34_000]) {
      const controller = new AbortController();
      controller.signal.addEventListener("abort", () => abortedAt.set(ms, clock.monotonic()));
      deadlines.add(controller, ms);
      await clock.advance(7);
    }
    for (let passed = 0; passed < 40_000; passed += 50) await clock.advance(50);
    const late = [...abortedAt].map(([ms, at], index) => at - index * 7 - ms);
    assert.equal(abortedAt.size, 6);
    assert.ok(
      late.every((ms) => ms >= 0 && ms <= 500),
      String(late),
    );
  });

  test("leave alone what has ended, and hold no timer when there is nothing to end", async () => {
    const clock = new ManualClock();
    using deadlines = new Deadlines(clock);
    const controller = new AbortController();
    deadlines.add(controller, 1_000)[Symbol.dispose]();
    await clock.advance(2_000);
    assert.deepEqual([controller.signal.aborted, clock.pending], [false, 0]);
  });

  test("say why they end something", async () => {
    const clock = new ManualClock();
    using deadlines = new Deadlines(clock);
    const controller = new AbortController();
    deadlines.add(controller, 10);
    await clock.advance(1_000);
    const { reason } = controller.signal as { reason: DOMException };
    assert.equal(reason.name, "TimeoutError");
  });
});

suite("the time that a request has (KB 54)", () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ["GET /api/v1/pods", 60_000],
    ["GET /api/v1/pods?timeout=10s", 10_000],
    ["GET /api/v1/pods?timeout=0s", 60_000],
    ["GET /api/v1/pods?timeout=2h", 60_000],
    ["GET /api/v1/pods?timeout=", 60_000],
    ["GET /api/v1/pods?watch=1&timeout=1s", undefined],
    ["GET /api/v1/pods?watch=1&timeout=soon", undefined],
    ["POST /api/v1/namespaces/a/pods", 34_000],
    ["POST /api/v1/namespaces/a/pods?timeout=5s", 5_000],
    ["DELETE /api/v1/namespaces/a/pods", 60_000],
    ["DELETE /api/v1/namespaces/a/pods/b", 34_000],
    ["GET /version", 60_000],
  ];
  for (const [request, expected] of cases) {
    test(request, () => {
      const [method = "", url = ""] = request.split(" ");
      const [path = "", text = ""] = url.split("?");
      const query = new URLSearchParams(text);
      assert.equal(requestTimeoutMs(requestInfo(method, path, query), query), expected);
    });
  }

  test("is refused when it is none", () => {
    const query = new URLSearchParams("timeout=soon");
    const info = requestInfo("GET", "/api/v1/pods", query);
    assert.throws(() => requestTimeoutMs(info, query), /invalid timeout specified/);
  });
});
