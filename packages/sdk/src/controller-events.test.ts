// Which events lead to a look at their resource, and at what.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Context } from "./options.ts";
import { ready, type Result } from "./results.ts";
import { ControllerBed } from "./testing/controller-bed.ts";

suite("events of a controller", () => {
  test("one request reads what an event needs, two for a nodepool; its own wakes cost none", async () => {
    await using it = new ControllerBed();
    const { id } = await it.backend.createCluster("c");
    const contexts: Context[] = [];
    await it.start({
      kinds: ["nodepool"],
      reconcile: (context) => {
        contexts.push(context);
        return ready();
      },
    });
    it.backend.requests.length = 0;
    const pool = await it.backend.createNodepool("np", id);
    await it.settle();
    assert.deepEqual(it.backend.requests, [
      `GET /nodepools/${pool.id}`,
      `GET /clusters/${id}`,
      `PUT /nodepools/${pool.id}/status`,
    ]);
    assert.deepEqual(
      contexts.map(({ resource, cluster }) => [resource.id, cluster.id]),
      [[pool.id, id]],
    );
    assert.equal(it.events("own"), 1);
  });

  test("events of other platforms and kinds are let go without a request", async () => {
    await using it = new ControllerBed();
    await it.start({ platforms: ["GCP"] });
    it.backend.requests.length = 0;
    const { id } = await it.backend.createCluster("c", { platform: { type: "aws" } });
    await it.backend.createNodepool("np", id);
    await it.settle();
    assert.deepEqual(it.backend.requests, []);
    assert.equal(it.events("filtered"), 2);
  });

  test("malformed and unknown events are acknowledged and counted, and the next one is worked on", async () => {
    await using it = new ControllerBed();
    await it.start();
    for (const nonsense of ["{", "[]", { type: "cluster.updated" }, { type: "cluster.exploded" }]) {
      await it.backend.transport.publish(nonsense);
    }
    await it.backend.transport.idle();
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.deepEqual([it.events("malformed"), it.events("unknown")], [3, 1]);
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
  });

  test("the same event twice is worked on once, also while it is being worked on", async () => {
    await using it = new ControllerBed();
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let runs = 0;
    await it.start({
      reconcile: async () => {
        assert.equal(++running, 1);
        runs++;
        await gate.promise;
        running--;
        return ready();
      },
    });
    const event = {
      id: "e1",
      type: "cluster.reconcile",
      cluster_id: (await it.backend.createCluster("c")).id,
      generation: 1,
    };
    await it.settle();
    for (let i = 0; i < 5; i++) await it.backend.transport.publish(event);
    await it.settle();
    gate.resolve();
    await it.settle();
    await it.backend.transport.publish(event);
    await it.settle();
    // One for its creation, and one for the five copies that came meanwhile.
    assert.equal(runs, 2);
    assert.equal(it.events("duplicate"), 5);
  });

  test("an event older than the resource looks at the latest, once", async () => {
    await using it = new ControllerBed();
    const generations: number[] = [];
    await it.start({
      reconcile: ({ resource }) => {
        generations.push(resource.generation);
        return ready();
      },
    });
    const { id } = await it.backend.createCluster("c");
    await it.backend.update(id, { platform: { type: "gcp" }, n: 2 });
    await it.backend.update(id, { platform: { type: "gcp" }, n: 3 });
    await it.settle();
    generations.length = 0;
    const late = { id: "late", type: "cluster.updated", cluster_id: id, generation: 2 };
    await it.backend.transport.publish(late);
    await it.settle();
    assert.deepEqual(generations, []);
    assert.equal(it.backend.report(id, "dns")?.observed_generation, 3);
    assert.ok(it.events("superseded") >= 1);
  });

  test("a report is for the generation that was read, whatever the event says", async () => {
    await using it = new ControllerBed();
    const gate = Promise.withResolvers<void>();
    const seen: (readonly [event: number, resource: number])[] = [];
    await it.start({
      reconcile: async ({ event, resource }) => {
        seen.push([event.generation, resource.generation]);
        await gate.promise;
        return ready();
      },
    });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await it.backend.update(id, { platform: { type: "gcp" }, n: 2 });
    await it.backend.update(id, { platform: { type: "gcp" }, n: 3 });
    const late = { id: "late", type: "cluster.updated", cluster_id: id, generation: 2 };
    await it.backend.transport.publish(late);
    gate.resolve();
    await it.settle();
    assert.deepEqual(seen, [
      [1, 1],
      [2, 3],
    ]);
    assert.equal(it.backend.report(id, "dns")?.observed_generation, 3);
  });

  test("a resource that is gone, and a report that comes too late, are done with", async () => {
    await using it = new ControllerBed();
    let runs = 0;
    await it.start({
      reconcile: async ({ resource }) => {
        runs++;
        if (resource.name === "moves") it.backend.onRequest = onlyReports(409);
        return ready();
      },
    });
    await it.backend.createCluster("moves");
    await it.settle();
    it.backend.onRequest = () => undefined;
    await it.backend.transport.publish({
      id: "gone",
      type: "cluster.updated",
      cluster_id: "none",
      generation: 1,
    });
    await it.clock.advance(600_000);
    await it.settle();
    assert.equal(runs, 1);
    assert.equal(it.events("retried"), 0);
  });

  test("secrets are there for those who ask", async () => {
    await using it = new ControllerBed();
    const seen: unknown[] = [];
    const reconcile = ({ resource }: Context): Result => {
      seen.push(resource.spec["password"]);
      return ready();
    };
    await it.backend.createCluster("c", { password: "s3cret" });
    await it.start({ name: "blind", reconcile });
    await it.start({ name: "trusted", secrets: true, reconcile });
    assert.deepEqual([...new Set(seen)], ["[REDACTED]", "s3cret"]);
  });
});

function onlyReports(status: number) {
  return (request: string): number | undefined =>
    request.startsWith("PUT /clusters") ? status : undefined;
}
