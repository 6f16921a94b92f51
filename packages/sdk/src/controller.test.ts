import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { seededRandom } from "@keelson/base";
import { ManualClock, RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import { createController, type Controller } from "./controller.ts";
import type { Context, ControllerOptions } from "./options.ts";
import { failed, notApplicable, progressing, ready, type Result } from "./results.ts";
import { FakeBackend } from "./testing/fake-backend.ts";

/** A backend, a clock that stands still, and controllers that are stopped when the test ends. */
class Bench implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly random = seededRandom("sdk");
  readonly backend = new FakeBackend({ clock: this.clock, random: this.random });
  readonly log = new RecordingLog();
  readonly metrics = new RecordingMetrics();
  readonly #controllers: Controller[] = [];

  async start(options: Partial<ControllerOptions> = {}): Promise<Controller> {
    const controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: this.backend.transport,
      api: this.backend.api,
      reconcile: () => ready(),
      clock: this.clock,
      random: this.random,
      log: this.log,
      metrics: this.metrics,
      ...options,
    });
    this.#controllers.push(controller);
    await controller.start();
    await this.settle();
    return controller;
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await this.clock.settle();
  }

  events(result: string): number {
    return this.metrics.value("keelson_sdk_events_total", { result }) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
  }
}

suite("controller", () => {
  test("it registers, subscribes, then looks at everything that is there", async () => {
    await using it = new Bench();
    const { id } = await it.backend.createCluster("old");
    const seen: string[] = [];
    await it.start({
      platforms: ["gcp"],
      reconcile: ({ resource, event }) => {
        seen.push(`${resource.name} ${event.reason}`);
        return ready({ zone: "z" });
      },
      finalize: () => undefined,
    });
    await it.backend.createCluster("new");
    await it.settle();
    assert.deepEqual(seen, ["old listed", "new cluster_created"]);
    assert.deepEqual(it.backend.registered("dns"), {
      name: "dns",
      kinds: ["cluster"],
      platforms: ["gcp"],
      finalizer: true,
    });
    assert.equal(it.backend.requests[0], "PUT /controllers/dns");
    assert.deepEqual(it.backend.report(id, "dns")?.metadata, { zone: "z" });
  });

  test("one request reads what an event needs, two for a nodepool; its own wakes cost none", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
    await it.start({ platforms: ["GCP"] });
    it.backend.requests.length = 0;
    const { id } = await it.backend.createCluster("c", { platform: { type: "aws" } });
    await it.backend.createNodepool("np", id);
    await it.settle();
    assert.deepEqual(it.backend.requests, []);
    assert.equal(it.events("filtered"), 2);
  });

  test("malformed and unknown events are acknowledged and counted, and the next one is worked on", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
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
    await using it = new Bench();
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
    await using it = new Bench();
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

  test("a transient failure is reported, tried again with backoff, and success clears it", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
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

  test("a start that fails half-way follows nothing, and may be made again", async () => {
    await using it = new Bench();
    const controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: it.backend.transport,
      api: it.backend.api,
      reconcile: () => ready(),
      clock: it.clock,
      random: it.random,
    });
    await using _stopped = controller;
    it.backend.onRequest = (request) => (request === "GET /clusters" ? 403 : undefined);
    await assert.rejects(controller.start(), /HTTP_FAULT|http_fault/);
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    assert.equal(it.backend.report(id, "dns"), undefined);

    it.backend.onRequest = () => undefined;
    await controller.start();
    await it.settle();
    assert.equal(it.backend.condition(id, "dns", "Ready"), "True");
    await assert.rejects(controller.start(), /started twice/);
  });

  test("other failures wait for the next event", async () => {
    await using it = new Bench();
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

  test("work in progress looks again by itself", async () => {
    await using it = new Bench();
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

  test("a dependent controller is woken by the report that it waits for", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
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
    await using it = new Bench();
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

  test("deletion finalizes, again and again until it succeeds, then the resource goes", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
    const first = await it.start({ finalize: () => undefined, reconcile: () => ready() });
    const { id } = await it.backend.createCluster("c");
    await it.settle();
    await first.stop();
    await it.backend.delete(id);
    assert.equal(it.backend.has(id), true);
    await it.start({ finalize: () => undefined });
    assert.equal(it.backend.has(id), false);
  });

  test("a resource that is gone, and a report that comes too late, are done with", async () => {
    await using it = new Bench();
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

  test("an API that is away for a while delays, and loses nothing", async () => {
    await using it = new Bench();
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
    await using it = new Bench();
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

  test("stop lets what is running end and report; what does not end is aborted and comes again", async () => {
    await using it = new Bench();
    const gate = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const controller = await it.start({
      drainMs: 1_000,
      reconcile: async ({ resource, signal }) => {
        if (resource.name === "ends") await gate.promise;
        else {
          await new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              aborted.resolve();
              reject(signal.reason as Error);
            });
          });
        }
        return ready();
      },
    });
    const ends = await it.backend.createCluster("ends");
    const hangs = await it.backend.createCluster("hangs");
    await it.settle();
    const stopped = controller.stop();
    gate.resolve();
    await it.settle();
    assert.equal(it.backend.condition(ends.id, "dns", "Ready"), "True");
    await it.clock.advance(1_000);
    await aborted.promise;
    await stopped;
    assert.equal(it.backend.report(hangs.id, "dns"), undefined);
  });

  test("secrets are there for those who ask", async () => {
    await using it = new Bench();
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

  test("options that cannot work are refused, all at once", () => {
    const { transport, api } = new FakeBackend();
    assert.throws(
      () =>
        createController({
          name: "",
          kinds: [],
          transport: { ...transport, ackDeadlineMs: 10_000 },
          api: { ...api, url: "nowhere" },
          preconditions: [{ field: "labels", operator: "exists" }],
          reconcile: () => ready(),
        }),
      (error: Error) =>
        error instanceof TypeError &&
        ["name", "kinds", "api.url", "preconditions", "timeoutMs"].every((word) =>
          error.message.includes(word),
        ),
    );
  });
});

function onlyReports(status: number) {
  return (request: string): number | undefined =>
    request.startsWith("PUT /clusters") ? status : undefined;
}
