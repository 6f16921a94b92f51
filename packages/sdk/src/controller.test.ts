import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createController, type Controller } from "./controller.ts";
import { progressing, ready } from "./results.ts";
import { ControllerBed } from "./testing/controller-bed.ts";
import { FakeBackend } from "./testing/fake-backend.ts";
import { sse } from "./transports/sse.ts";

suite("controller", () => {
  test("it registers, subscribes, then looks at everything that is there", async () => {
    await using it = new ControllerBed();
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

  test("a start that fails half-way follows nothing, and may be made again", async () => {
    await using it = new ControllerBed();
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

  test("a start that cannot list the second kind has begun nothing with the first", async () => {
    await using it = new ControllerBed();
    const { id } = await it.backend.createCluster("c");
    it.backend.onRequest = (request) => (request === "GET /nodepools" ? 403 : undefined);
    await assert.rejects(it.start({ kinds: ["cluster", "nodepool"] }), /http_fault/);
    await it.settle();
    assert.equal(it.backend.report(id, "dns"), undefined);
  });

  test("a start that fails looks no more at what it heard of meanwhile", async () => {
    await using it = new ControllerBed();
    const { api } = it.backend;
    const heard = Promise.withResolvers<void>();
    it.backend.onRequest = (request) => (request === "GET /clusters" ? 403 : undefined);
    let looks = 0;
    const starting = it.start({
      api: {
        ...api,
        fetch: async (input, init) => {
          if (new Request(input).url.includes("/clusters?")) await heard.promise;
          return api.fetch(input, init);
        },
      },
      reconcile: () => {
        looks++;
        return progressing("waiting for the zone", 1_000);
      },
    });
    await it.settle();
    await it.backend.createCluster("c");
    await it.settle();
    assert.equal(looks, 1);
    heard.resolve();
    await assert.rejects(starting, /http_fault/);
    await it.clock.advance(60_000);
    await it.settle();
    assert.equal(looks, 1);
  });

  test("a start that fails waits for the look that has begun, and begins no other", async () => {
    await using it = new ControllerBed();
    const { api } = it.backend;
    const [heard, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    it.backend.onRequest = (request) => (request === "GET /clusters" ? 403 : undefined);
    let looks = 0;
    const starting = it.start({
      concurrency: 1,
      api: {
        ...api,
        fetch: async (input, init) => {
          if (new Request(input).url.includes("/clusters?")) await heard.promise;
          return api.fetch(input, init);
        },
      },
      reconcile: async () => {
        looks++;
        await looked.promise;
        return ready();
      },
    });
    let hasFailed = false;
    const failed = assert.rejects(starting, /http_fault/).then(() => (hasFailed = true));
    await it.settle();
    for (const name of ["a", "b", "c"]) await it.backend.createCluster(name);
    await it.settle();
    heard.resolve();
    await it.settle();
    assert.deepEqual([looks, hasFailed], [1, false]);
    looked.resolve();
    await failed;
    assert.equal(looks, 1);
  });

  test("a start that fails lists no more, although it heard of a gap", async () => {
    await using it = new ControllerBed();
    const { transport } = it.backend;
    it.backend.onRequest = (request) => (request === "GET /clusters" ? 403 : undefined);
    const starting = it.start({
      transport: {
        subscribe: async (context, signal) => {
          const subscription = await transport.subscribe(context, signal);
          context.onGap();
          return subscription;
        },
      },
    });
    await assert.rejects(starting, /http_fault/);
    const before = it.backend.requests.length;
    await it.clock.advance(120_000);
    await it.settle();
    assert.equal(it.backend.requests.length, before);
  });

  test("one that moves to a page which was read already, because another went, is looked at all the same", async () => {
    await using it = new ControllerBed();
    const names = Array.from({ length: 150 }, (_, n) => `c-${n}`);
    for (const name of names) await it.backend.createCluster(name);
    const newest = (await it.backend.createCluster("newest")).id;
    let pages = 0;
    it.backend.onRequest = (request) => {
      if (request === "GET /clusters" && ++pages === 2) void it.backend.delete(newest);
      return undefined;
    };
    const seen = new Set<string>();
    await it.start({
      concurrency: 200,
      reconcile: ({ resource }) => {
        seen.add(resource.name);
        return ready();
      },
    });
    assert.deepEqual(
      names.filter((name) => !seen.has(name)),
      [],
    );
  });

  test("stop lets what is running end and report; what does not end is aborted and comes again", async () => {
    await using it = new ControllerBed();
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

  test("one that is stopped while it starts begins nothing any more", async () => {
    await using it = new ControllerBed();
    const { id } = await it.backend.createCluster("c");
    let controller: Controller | undefined;
    let stopped: Promise<void> | undefined;
    it.backend.onRequest = (request) => {
      if (request === "GET /clusters") stopped = controller?.stop();
      return undefined;
    };
    controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: it.backend.transport,
      api: it.backend.api,
      reconcile: () => ready(),
      clock: it.clock,
      random: it.random,
    });
    await assert.rejects(controller.start(new AbortController().signal), /is stopping/);
    await stopped;
    await it.backend.announce(id);
    await it.settle();
    assert.equal(it.backend.report(id, "dns"), undefined);
  });

  test("a start gives up with its signal also while the stream of events is not to be had", async () => {
    await using it = new ControllerBed();
    it.backend.onRequest = (request) => (request === "GET /events" ? 503 : undefined);
    await using controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: sse(),
      api: it.backend.api,
      reconcile: () => ready(),
      clock: it.clock,
      random: it.random,
    });
    const patience = new AbortController();
    const ends: unknown[] = [];
    controller.start(patience.signal).catch((error: unknown) => ends.push(error));
    await it.settle();
    await it.clock.advance(60_000);
    await it.settle();
    assert.deepEqual(ends, []);
    const late = new Error("nobody waits any longer");
    patience.abort(late);
    await it.settle();
    assert.deepEqual(ends, [late]);
    const asked = it.backend.requests.length;
    await it.clock.advance(60_000);
    await it.settle();
    assert.equal(it.backend.requests.length, asked);
  });

  test("a stop while it registers ends the start, though the request does not heed its signal", async () => {
    await using it = new ControllerBed();
    const { api } = it.backend;
    const stops: Promise<void>[] = [];
    const controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: sse(),
      api: {
        ...api,
        fetch: (input) => {
          stops.push(controller.stop());
          return api.fetch(input, { method: "PUT" });
        },
      },
      reconcile: () => ready(),
      clock: it.clock,
      random: it.random,
    });
    const ends: unknown[] = [];
    controller.start().catch((error: unknown) => ends.push(String(error)));
    await it.settle();
    await Promise.all(stops);
    assert.deepEqual(ends, ["AbortError: the controller is stopping"]);
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
          retryMs: { initial: 0, max: 10 },
          reconcile: () => ready(),
        }),
      (error: Error) =>
        error instanceof TypeError &&
        ["name", "kinds", "api.url", "preconditions", "timeoutMs", "retryMs"].every((word) =>
          error.message.includes(word),
        ),
    );
  });
});
