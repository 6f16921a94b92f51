// What goes wrong is reported, and tried again where that can help.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { failed, ready, type Result } from "./results.ts";
import { ControllerBed } from "./testing/controller-bed.ts";

suite("failures of a controller", () => {
  test("a transient failure is reported, tried again with backoff, and success clears it", async () => {
    await using it = new ControllerBed();
    const attempts: number[] = [];
    await it.start({
      reconcile: ({ attempt }): Result => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error("the zone is locked");
        return ready();
      },
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.deepEqual(attempts, [1]);
    const { last_error: error, conditions } = it.backend.report(id, "dns") ?? {};
    assert.deepEqual(
      [error?.errorType, error?.errorCode, error?.message, conditions?.[0]?.status],
      ["Transient", "ReconcileFailed", "the zone is locked", "False"],
    );
    await it.clock.advance(400);
    assert.deepEqual(attempts, [1], "it waits at least half of the first second");
    await it.clock.advance(600);
    await it.settle();
    assert.deepEqual(attempts, [1, 2]);
    await it.clock.advance(2_000);
    await it.settle();
    assert.deepEqual(attempts, [1, 2, 3]);
    assert.equal(it.backend.report(id, "dns")?.last_error, null);
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
    await it.backend.announce(id);
    await it.settle();
    assert.deepEqual(attempts, [1, 2, 3, 1], "a success begins the count again");
  });

  test("a resource that goes on failing owes one event, however often it is announced", async () => {
    await using it = new ControllerBed();
    let runs = 0;
    let isBroken = true;
    await it.start({
      reconcile: () => {
        runs++;
        if (isBroken) throw new Error("the zone is locked");
        return ready();
      },
    });
    const { id } = await it.backend.createCluster("c");
    for (let round = 0; round < 20; round++) {
      await it.clock.advance(30_000);
      await it.backend.announce(id, "unhealthy_reconciliation");
      await it.settle();
    }
    runs = 0;
    for (let round = 0; round < 60; round++) {
      await it.clock.advance(1_000);
      await it.settle();
    }
    assert.ok(runs >= 1 && runs <= 2, `in a minute one event was delivered again ${runs} times`);

    isBroken = false;
    await it.backend.announce(id);
    await it.settle();
    runs = 0;
    for (let round = 0; round < 60; round++) {
      await it.clock.advance(1_000);
      await it.settle();
    }
    assert.equal(runs, 0, "what was given back before is done with");
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
    await it.backend.transport.idle();
  });

  test("other failures wait for the next event", async () => {
    await using it = new ControllerBed();
    let runs = 0;
    await it.start({
      reconcile: () => {
        runs++;
        return failed({ type: "Configuration", code: "BadDomain", message: "no such domain" });
      },
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.clock.advance(600_000);
    await it.settle();
    assert.equal(runs, 1);
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "BadDomain");
  });

  const itself: Record<string, unknown> = {};
  itself["zone"] = itself;
  for (const [what, result] of [
    ["a number that JSON has not", { kind: "ready", metadata: { records: 1n } }],
    ["what holds itself", { kind: "ready", metadata: itself }],
    ["nothing", undefined],
    ["no kind", {}],
    ["a text", "ok"],
    ["metadata that are a list", { kind: "ready", metadata: ["zone"] }],
  ] as const) {
    test(`a result of ${what} is reported as a failure, and tried again with backoff`, async () => {
      await using it = new ControllerBed();
      let runs = 0;
      await it.start({
        reconcile: () => {
          runs++;
          return (runs === 1 ? result : ready()) as Result;
        },
      });
      const { id } = await it.backend.createCluster("c");
      await it.settle();
      assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "ReconcileFailed");
      await it.clock.advance(1_000);
      await it.settle();
      assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
    });
  }

  test("an API that is away for a while delays, and loses nothing", async () => {
    await using it = new ControllerBed();
    await it.start();
    let isAway = true;
    it.backend.onRequest = () => (isAway ? 503 : undefined);
    const { id } = await it.backend.createCluster("c");
    await it.clock.advance(60_000);
    await it.settle();
    assert.ok(it.events("retried") >= 1);
    isAway = false;
    await it.clock.advance(60_000);
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
  });

  test("code that takes too long is told so, and its failure is reported", async () => {
    await using it = new ControllerBed();
    await it.start({
      timeoutMs: 5_000,
      reconcile: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.clock.advance(5_000);
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "DeadlineExceeded");
  });

  test("code that does not heed its signal is told of, and heard out", async () => {
    await using it = new ControllerBed();
    const slow = Promise.withResolvers<Result>();
    let runs = 0;
    await it.start({ timeoutMs: 5_000, reconcile: () => (++runs === 1 ? slow.promise : ready()) });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.clock.advance(9_999);
    assert.equal(it.backend.report(id, "dns"), undefined, "it may take a while to heed it");
    await it.clock.advance(1);
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "DeadlineExceeded");
    assert.deepEqual(it.log.messages("warn"), [
      "the controller's own code does not heed its signal",
    ]);
    await it.backend.update(id, { platform: { type: "gcp" }, size: 2 });
    await it.clock.advance(60_000);
    await it.settle();
    assert.equal(runs, 1, "never two of a resource at a time");
    slow.resolve(ready());
    await it.settle();
    assert.equal(runs, 2);
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
    assert.equal(it.backend.report(id, "dns")?.observed_generation, 2);
  });

  test("a resource whose code does not end keeps nobody from being heard, however often it is announced", async () => {
    await using it = new ControllerBed();
    const seen: string[] = [];
    const slow = Promise.withResolvers<Result>();
    await it.start({
      reconcile: ({ resource }) => {
        seen.push(resource.name);
        return resource.name === "hangs" ? slow.promise : ready();
      },
    });
    const { id } = await it.backend.createCluster("hangs");
    await it.settle();
    for (let times = 0; times < 300; times++) void it.backend.announce(id);
    await it.settle();
    void it.backend.createCluster("other");
    await it.settle();
    assert.deepEqual(seen, ["hangs", "other"]);
    slow.resolve(ready());
    await it.settle();
    assert.deepEqual(seen, ["hangs", "other", "hangs"], "all of them are one look");
    await it.backend.transport.idle();
  });

  test("a stop does not wait for code that does not heed its signal", async () => {
    await using it = new ControllerBed();
    const controller = await it.start({
      drainMs: 5_000,
      reconcile: () => new Promise<Result>(() => undefined),
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    let isStopped = false;
    const stopped = controller.stop().then(() => (isStopped = true));
    await it.clock.advance(9_999);
    assert.equal(isStopped, false, "aborted, it may take a while to heed it");
    await it.clock.advance(1);
    await stopped;
    assert.equal(it.backend.report(id, "dns"), undefined);
  });

  for (const status of [400, 413]) {
    test(`a report that the API refuses with ${status} is told as a failure, not sent for ever`, async () => {
      await using it = new ControllerBed();
      let refusals = 1;
      it.backend.onRequest = (request) =>
        request.startsWith("PUT /clusters/") && refusals-- > 0 ? status : undefined;
      await it.start({ reconcile: () => ready({ log: "long" }) });
      const { id } = await it.backend.createCluster("c");
      await it.settle();
      const { last_error: error, metadata } = it.backend.report(id, "dns") ?? {};
      assert.deepEqual([error?.errorType, error?.errorCode], ["Transient", "ReportRefused"]);
      assert.match(error?.message ?? "", /^PUT clusters\/.*: http_fault$/);
      assert.deepEqual(metadata, {});
      await it.clock.advance(1_000);
      await it.settle();
      assert.equal(it.backend.condition(id, "dns", "Ready"), "True", "tried again with backoff");
    });
  }

  test("a failure that the API refuses is told without what was said of it, of a finalize too", async () => {
    await using it = new ControllerBed();
    let refusals = 1;
    it.backend.onRequest = (request) =>
      request.startsWith("PUT /clusters/") && refusals-- > 0 ? 413 : undefined;
    const failure = failed({ type: "System", code: "Disk", message: "it is full" });
    await it.start({ reconcile: () => failure, finalize: () => failure });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "ReportRefused");
    await it.clock.advance(1_000);
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "Disk");
    refusals = 1;
    await it.backend.delete(id);
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "ReportRefused");
    assert.equal(it.backend.condition(id, "dns", "Finalized"), "False");
  });

  test("a report that is refused whatever it says is tried again with backoff", async () => {
    await using it = new ControllerBed();
    it.backend.onRequest = (request) => (request.startsWith("PUT /clusters/") ? 400 : undefined);
    await it.start();
    await it.backend.createCluster("c");
    await it.settle();
    const sent = () => it.backend.requests.filter((one) => one.startsWith("PUT /clusters/")).length;
    assert.equal(sent(), 2, "once as it is, once as a failure");
    await it.clock.advance(1_000);
    await it.settle();
    assert.equal(sent(), 4);
  });
});
