// What a controller has made it takes away before the resource goes.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ready } from "./results.ts";
import { ControllerBed } from "./testing/controller-bed.ts";

suite("deletion by a controller", () => {
  test("deletion finalizes, again and again until it succeeds, then the resource goes", async () => {
    await using it = new ControllerBed();
    let failures = 2;
    const finalized: string[] = [];
    await it.start({
      finalize: ({ resource }) => {
        if (failures-- > 0) throw new Error("the zone is not empty");
        finalized.push(resource.name);
      },
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.backend.delete(id);
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Finalized"), "False");
    assert.equal(it.backend.report(id, "dns")?.last_error?.message, "the zone is not empty");
    await it.clock.advance(10_000);
    await it.settle();
    assert.deepEqual(finalized, ["c"]);
    assert.equal(it.backend.has(id), false);
  });

  test("what is being deleted at the start is finalized too", async () => {
    await using it = new ControllerBed();
    const first = await it.start({ finalize: () => undefined, reconcile: () => ready() });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await first.stop();
    await it.backend.delete(id);
    assert.equal(it.backend.has(id), true);
    await it.start({ finalize: () => undefined });
    assert.equal(it.backend.has(id), false);
  });
});
