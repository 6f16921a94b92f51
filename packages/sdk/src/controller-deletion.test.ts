// What a controller has made it takes away before the resource goes.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Context } from "./options.ts";
import { failed, progressing, ready } from "./results.ts";
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

  test("what it has made is taken back though the platform has become another", async () => {
    await using it = new ControllerBed();
    const finalized: string[] = [];
    const options = {
      platforms: ["gcp"],
      finalize: ({ resource }: Context) => void finalized.push(resource.name),
    };
    const first = await it.start(options);
    const moved = await it.backend.createCluster("moved");
    const away = await it.backend.createCluster("moved while it was away");
    const foreign = await it.backend.createCluster("foreign", { platform: { type: "aws" } });
    await it.settle();
    await it.backend.update(moved.id, { platform: { type: "aws" } });
    await it.settle();
    it.backend.requests.length = 0;
    await it.backend.delete(foreign.id);
    await it.settle();
    assert.deepEqual(it.backend.requests, [], "nothing of its own is there");
    await it.backend.delete(moved.id);
    await it.settle();
    assert.deepEqual([finalized, it.backend.has(moved.id)], [["moved"], false]);

    await first.stop();
    await it.backend.update(away.id, { platform: { type: "aws" } });
    await it.backend.delete(away.id);
    await it.start(options);
    assert.deepEqual(finalized, ["moved", "moved while it was away"]);
    assert.equal(it.backend.has(away.id), false);
  });

  test("a deletion that waits for it by name is its business, whatever it is registered for by now", async () => {
    await using it = new ControllerBed();
    const before = await it.start({ platforms: ["gcp"], finalize: () => undefined });
    await before.stop();
    const { id } = await it.backend.createCluster("c");
    await it.backend.delete(id);
    await it.start({ platforms: ["aws"], finalize: () => undefined });
    assert.equal(it.backend.has(id), true, "it has never reported on it");
    await it.backend.announce(id, "deletion_pending");
    await it.settle();
    assert.equal(it.backend.has(id), false);
  });

  test("one that finalizes no longer holds nothing: neither what is being deleted nor what it saw before", async () => {
    await using it = new ControllerBed();
    const before = await it.start({ finalize: () => undefined });
    const seen = await it.backend.createCluster("seen");
    const away = await it.backend.createCluster("deleted while it was away");
    await it.settle();
    await before.stop();
    const fresh = await it.backend.createCluster("never seen");
    await it.backend.delete(away.id);
    await it.backend.delete(fresh.id);
    assert.deepEqual([it.backend.has(away.id), it.backend.has(fresh.id)], [true, true]);
    await it.start();
    assert.equal(it.backend.has(away.id), false, "it has reported on it: the list is enough");
    await it.backend.announce(fresh.id, "deletion_pending");
    await it.settle();
    assert.equal(it.backend.has(fresh.id), false, "it is named by the event");
    await it.backend.delete(seen.id);
    assert.equal(it.backend.has(seen.id), false, "its report since has let go");
  });

  test("one that finalizes no longer lets go at its start of what has left its platforms and hangs", async () => {
    await using it = new ControllerBed();
    const before = await it.start({
      platforms: ["gcp"],
      finalize: () => {
        throw new Error("the zone is not empty");
      },
    });
    const moved = await it.backend.createCluster("moved");
    const foreign = await it.backend.createCluster("foreign", { platform: { type: "aws" } });
    await it.settle();
    await it.backend.update(moved.id, { platform: { type: "aws" } });
    await it.backend.delete(moved.id);
    await it.settle();
    await before.stop();
    assert.equal(it.backend.has(moved.id), true);
    await it.start({ platforms: ["gcp"] });
    assert.equal(it.backend.has(moved.id), false);
    assert.equal(it.backend.report(foreign.id, "dns"), undefined);
  });

  test("a finalize that answers that it failed, or is under way, holds the resource", async () => {
    await using it = new ControllerBed();
    const failure = {
      type: "Configuration",
      code: "InUse",
      message: "the zone is in use",
    } as const;
    const answers = [failed({ ...failure, retryAfter: 5_000 }), progressing("going", 5_000)];
    await it.start({ finalize: () => answers.shift() });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.backend.delete(id);
    await it.settle();
    const said = () => [
      it.backend.condition(id, "dns", "Finalized"),
      it.backend.report(id, "dns")?.last_error?.errorCode,
      it.backend.report(id, "dns")?.last_error?.message,
    ];
    assert.deepEqual(said(), ["False", "InUse", "the zone is in use"]);
    await it.clock.advance(4_999);
    assert.equal(answers.length, 1, "it said when to come again");
    await it.clock.advance(1);
    await it.settle();
    assert.deepEqual(said(), ["False", "NotYetFinalized", "going"]);
    await it.clock.advance(5_000);
    await it.settle();
    assert.equal(it.backend.has(id), false);
  });

  test("what a finalize gives that is no result of ours is no failure", async () => {
    await using it = new ControllerBed();
    const answers = [null, { kind: "Status", status: "Failure" }, ready(), "failed"];
    await it.start({ finalize: () => answers.shift() });
    while (answers.length > 0) {
      const { id } = await it.backend.createCluster("c");
      await it.settle();
      await it.backend.delete(id);
      await it.settle();
      assert.equal(it.backend.has(id), false);
    }
  });
});
