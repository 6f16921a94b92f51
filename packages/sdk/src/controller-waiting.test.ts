// What is under way, what depends on others, what does not concern it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { failed, notApplicable, progressing, ready } from "./results.ts";
import { ControllerBed } from "./testing/controller-bed.ts";

suite("waiting of a controller", () => {
  test("work in progress looks again by itself", async () => {
    await using it = new ControllerBed();
    let runs = 0;
    await it.start({
      reconcile: () => (++runs < 3 ? progressing("creating", 5_000) : ready()),
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Progressing"), "True");
    await it.clock.advance(4_999);
    assert.equal(runs, 1);
    await it.clock.advance(5_001);
    await it.settle();
    assert.equal(runs, 3);
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
  });

  test("a wait that is no number is none, and ends nothing", async () => {
    await using it = new ControllerBed();
    const failure = { message: "", retryAfter: Number.NaN };
    const results = [
      progressing("nearly", Number.NaN),
      failed({ type: "Transient", code: "Quota", ...failure }),
      failed({ type: "System", code: "Disk", ...failure }),
    ];
    await it.start({ reconcile: () => results.shift() ?? ready() });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Progressing"), "True");
    await it.backend.announce(id);
    await it.clock.advance(2_000);
    await it.settle();
    assert.equal(it.backend.report(id, "dns")?.last_error?.errorCode, "Disk");
    await it.backend.announce(id);
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
  });

  test("a dependent controller is woken by the report that it waits for", async () => {
    await using it = new ControllerBed();
    await it.start({
      name: "dns",
      dependsOn: [{ controller: "version", condition: "Available", metadataKey: "image" }],
      reconcile: ({ reports }) => ready({ uses: reports["version"]?.metadata["image"] ?? null }),
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    const waits = it.backend.report(id, "dns");
    assert.deepEqual(
      waits?.conditions.map(({ type, status, reason }) => [type, status, reason]),
      [["Applied", "False", "PreconditionsNotMet"]],
    );
    await it.start({ name: "version", reconcile: () => ready({ image: "v1" }) });
    assert.deepEqual(it.backend.report(id, "dns")?.metadata, { uses: "v1" });
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
  });

  test("a spec that does not fulfil the preconditions is not applicable", async () => {
    await using it = new ControllerBed();
    await it.start({
      preconditions: [{ field: "spec.dns.baseDomain", operator: "exists" }],
      reconcile: () => assert.fail("it was not to be reconciled"),
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.deepEqual(
      it.backend.report(id, "dns")?.conditions.map(({ type, reason }) => [type, reason]),
      [["Applied", "NotApplicable"]],
    );
  });

  test("a precondition of its own waits with false, and reports a result as it is", async () => {
    await using it = new ControllerBed();
    await it.start({
      when: ({ resource }) => (resource.name === "skip" ? notApplicable("skipped") : false),
      reconcile: () => assert.fail("it was not to be reconciled"),
    });
    const skip = await it.backend.createCluster("skip");
    const wait = await it.backend.createCluster("wait");
    await it.settle();
    const reasons = [skip, wait].map(
      ({ id }) => it.backend.report(id, "dns")?.conditions[0]?.reason,
    );
    assert.deepEqual(reasons, ["NotApplicable", "PreconditionsNotMet"]);
  });
});
