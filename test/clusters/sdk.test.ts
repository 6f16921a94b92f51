// Controllers written with the SDK before the real API: over its stream, and over Pub/Sub.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PubSub } from "@google-cloud/pubsub";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingMetrics, until } from "@keelson/base/testing";
import { PubsubTransport } from "@keelson/clusters";
import {
  createController,
  failed,
  pubsub,
  ready,
  sse,
  type Controller,
  type ControllerOptions,
  type JsonMap,
  type Transport,
} from "@keelson/sdk";
import { never } from "./events-bed.ts";
import { startLifecycleServer, type LifecycleServer } from "./lifecycle-server.ts";
import { sharedEmulator, withoutEmulator } from "./pubsub-emulator.ts";

/** Controllers before one server, stopped with the test. */
class Field implements AsyncDisposable {
  readonly server: LifecycleServer;
  /** Reads of single resources by controllers, those that were answered, as `GET /clusters/…`. */
  readonly reads: string[] = [];
  readonly metrics = new RecordingMetrics();
  readonly #transport: (name: string) => Transport;
  readonly #controllers: Controller[] = [];
  readonly #owned: AsyncDisposableStack;

  constructor(
    server: LifecycleServer,
    transport: (name: string) => Transport,
    owned: AsyncDisposableStack,
  ) {
    this.server = server;
    this.#transport = transport;
    this.#owned = owned;
  }

  async start(
    name: string,
    options: Partial<ControllerOptions> & Pick<ControllerOptions, "reconcile">,
  ): Promise<Controller> {
    const controller = createController({
      name,
      kinds: ["cluster"],
      transport: this.#transport(name),
      api: { url: this.server.url, fetch: (input, init) => this.#fetch(input, init) },
      identity: { email: "ctl@system.local" },
      retryMs: { initial: 20, max: 100 },
      metrics: this.metrics,
      ...options,
    });
    this.#controllers.push(controller);
    await controller.start();
    return controller;
  }

  async ask(method: string, path: string, body?: object): Promise<{ code: number; body: JsonMap }> {
    const response = await fetch(`${this.server.url}${path}`, {
      method,
      headers: { "x-user-email": "alice@example.com", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { code: response.status, body: (text === "" ? {} : JSON.parse(text)) as JsonMap };
  }

  async create(spec: object, path = "/clusters", more: object = {}): Promise<string> {
    const name = `c-${systemRandom.uuid()}`;
    const { code, body } = await this.ask("POST", path, { name, spec, ...more });
    assert.equal(code, 201, JSON.stringify(body));
    return body["id"] as string;
  }

  async phase(id: string): Promise<unknown> {
    const { body } = await this.ask("GET", `/clusters/${id}`);
    return (body["status"] as JsonMap)["phase"];
  }

  async report(id: string, name: string): Promise<JsonMap | undefined> {
    const { body } = await this.ask("GET", `/clusters/${id}/status`);
    const reports = body["controller_status"] as readonly JsonMap[];
    return reports.find((report) => report["controller_name"] === name);
  }

  async #fetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const isRead =
      (init?.method ?? "GET") === "GET" && /\/(clusters|nodepools)\/[^/]+$/.test(pathname);
    const response = await fetch(input, init);
    // A busy server may say no, or be late: then it is asked again.
    if (isRead && response.ok) this.reads.push(`GET ${pathname.replace("/api/v1", "")}`);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.#owned.disposeAsync();
  }
}

async function overStream(): Promise<Field> {
  await using setup = new AsyncDisposableStack();
  const server = setup.use(await startLifecycleServer());
  return new Field(server, () => sse(), setup.move());
}

async function overPubsub(): Promise<Field & { readonly client: PubSub }> {
  await using setup = new AsyncDisposableStack();
  const { host } = await sharedEmulator();
  const projectId = `p-${systemRandom.uuid().slice(0, 8)}`;
  const client = new PubSub({ projectId, apiEndpoint: host, emulatorMode: true });
  setup.defer(() => client.close());
  const transport = setup.use(
    new PubsubTransport({
      projectId,
      emulatorHost: host,
      topics: { "cluster-events": "cluster-events", "nodepool-events": "nodepool-events" },
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    }),
  );
  await transport.prepare(never);
  const server = setup.use(await startLifecycleServer({ transport }));
  const field = new Field(
    server,
    (name) => pubsub({ subscription: `${name}-events`, projectId, emulatorHost: host }),
    setup.move(),
  );
  return Object.assign(field, { client });
}

const gcp = { platform: { type: "gcp" } };

for (const [name, open, skip] of [
  ["over the stream", overStream, false],
  ["over Pub/Sub", overPubsub, withoutEmulator],
] as const) {
  suite(`controllers ${name}`, { skip }, () => {
    test("one that needs another's metadata is woken by its report, and the cluster becomes Ready", async () => {
      await using field = await open();
      await field.start("dns", {
        dependsOn: [{ controller: "version", metadataKey: "image" }],
        reconcile: ({ reports }) => ready({ uses: reports["version"]?.metadata["image"] ?? "" }),
      });
      const release = Promise.withResolvers<void>();
      await field.start("version", {
        reconcile: async ({ resource }) => {
          await release.promise;
          return ready({ image: `img-${resource.generation}` });
        },
      });
      const id = await field.create(gcp);
      await until(async () => {
        const conditions = (await field.report(id, "dns"))?.["conditions"] as readonly JsonMap[];
        return conditions?.[0]?.["reason"] === "PreconditionsNotMet";
      });
      release.resolve();
      // Nothing else wakes it: no scheduler runs here.
      await until(async () => (await field.phase(id)) === "Ready");
      assert.deepEqual((await field.report(id, "dns"))?.["metadata"], { uses: "img-1" });

      await field.ask("PUT", `/clusters/${id}`, { spec: { ...gcp, more: true } });
      await until(async () => (await field.report(id, "dns"))?.["observed_generation"] === 2);
      await until(async () => (await field.phase(id)) === "Ready");
      assert.deepEqual((await field.report(id, "dns"))?.["metadata"], { uses: "img-2" });
      // One read for each event that was worked on, as often as it was, and none for the others.
      const counted = (result: string): number =>
        field.metrics.value("keelson_sdk_events_total", { result }) ?? 0;
      const worked = (): number => counted("handled") + counted("retried");
      await until(() => field.reads.length <= worked(), "there are no more reads than events");
    });

    test("a transient failure is seen in the status, and a later success clears it", async () => {
      await using field = await open();
      let isBroken = true;
      const attempts: number[] = [];
      await field.start("dns", {
        reconcile: ({ attempt }) => {
          attempts.push(attempt);
          if (!isBroken) return ready();
          return failed({ type: "Transient", code: "ZoneLocked", message: "try again" });
        },
      });
      const id = await field.create(gcp);
      await until(async () => {
        const error = (await field.report(id, "dns"))?.["last_error"] as JsonMap | undefined;
        return error?.["errorCode"] === "ZoneLocked";
      });
      assert.notEqual(await field.phase(id), "Ready");
      await until(() => attempts.length >= 3);
      isBroken = false;
      await until(async () => (await field.phase(id)) === "Ready");
      assert.equal((await field.report(id, "dns"))?.["last_error"], undefined);
      assert.deepEqual(attempts.slice(0, 3), [1, 2, 3]);
    });

    test("other platforms are none of its business, deletion waits for it, nodepools come with their cluster", async () => {
      await using field = await open();
      const finalized: string[] = [];
      const pools: (readonly [string, string])[] = [];
      await field.start("dns", {
        platforms: ["gcp"],
        reconcile: () => ready(),
        finalize: ({ resource }) => finalized.push(resource.id),
      });
      await field.start("pools", {
        kinds: ["nodepool"],
        reconcile: ({ resource, cluster }) => {
          pools.push([resource.id, cluster.id]);
          return ready();
        },
      });
      const foreign = await field.create({ platform: { type: "aws" } });
      const id = await field.create(gcp);
      await until(async () => (await field.phase(id)) === "Ready");
      const pool = await field.create({}, "/nodepools", { cluster_id: id });
      await until(() => pools.length > 0);
      assert.deepEqual(pools[0], [pool, id]);
      assert.equal(await field.report(foreign, "dns"), undefined);

      const { code } = await field.ask("DELETE", `/clusters/${id}?confirm=Ready`);
      assert.equal(code, 202);
      await until(async () => (await field.ask("GET", `/clusters/${id}`)).code === 404);
      assert.deepEqual(finalized, [id]);
    });

    test("a cluster whose platform has become another goes once it has taken back what it made", async () => {
      await using field = await open();
      const finalized: string[] = [];
      await field.start("dns", {
        platforms: ["gcp"],
        reconcile: () => ready(),
        finalize: ({ resource }) => finalized.push(resource.id),
      });
      const id = await field.create(gcp);
      await until(async () => (await field.phase(id)) === "Ready");
      const moved = await field.ask("PUT", `/clusters/${id}`, {
        spec: { platform: { type: "aws" } },
      });
      assert.equal(moved.code, 200);
      const { code } = await field.ask("DELETE", `/clusters/${id}?confirm=Progressing`);
      assert.equal(code, 202);
      await until(async () => (await field.ask("GET", `/clusters/${id}`)).code === 404);
      assert.deepEqual(finalized, [id]);
    });

    test("what happened while it was away is made up for", async () => {
      await using field = await open();
      const first = await field.start("dns", { reconcile: () => ready() });
      const id = await field.create(gcp);
      await until(async () => (await field.phase(id)) === "Ready");
      await first.stop();
      await field.ask("PUT", `/clusters/${id}`, { spec: { ...gcp, more: true } });
      const late = await field.create(gcp);
      await field.start("dns", { reconcile: () => ready() });
      await until(async () => (await field.phase(id)) === "Ready");
      await until(async () => (await field.phase(late)) === "Ready");
    });
  });
}

suite("controllers over Pub/Sub, when others publish too", { skip: withoutEmulator }, () => {
  test("nonsense is acknowledged and counted, the same event twice is worked on once at a time", async () => {
    await using field = await overPubsub();
    const counted = (result: string): number =>
      field.metrics.value("keelson_sdk_events_total", { result }) ?? 0;
    let [running, atOnce, runs] = [0, 0, 0];
    await field.start("dns", {
      reconcile: async () => {
        atOnce = Math.max(atOnce, ++running);
        runs++;
        // All have come, and another would have begun by now.
        await until(() => counted("duplicate") >= 4);
        await systemClock.sleep(20, never);
        running--;
        return ready();
      },
    });
    const topic = field.client.topic("cluster-events");
    for (const data of ["{", "[]", '{"type":"cluster.updated"}']) {
      await topic.publishMessage({ data: Buffer.from(data) });
    }
    const id = await field.create(gcp);
    const event = { id: "twice", type: "cluster.reconcile", cluster_id: id, generation: 1 };
    for (let copy = 0; copy < 5; copy++) await topic.publishMessage({ json: event });
    await until(() => counted("malformed") >= 3 && counted("duplicate") >= 4);
    await until(async () => (await field.phase(id)) === "Ready");
    assert.equal(atOnce, 1);
    assert.ok(runs <= 3, `${runs} runs`);
  });

  test("a subscription that is missing is made with ordering, one that is there is used as it is", async () => {
    await using field = await overPubsub();
    const topic = field.client.topic("cluster-events");
    await topic.createSubscription("mine-events", { ackDeadlineSeconds: 33 });
    await field.start("mine", { reconcile: () => ready() });
    await field.start("new", { reconcile: () => ready() });
    const [mine] = await field.client.subscription("mine-events").getMetadata();
    const [made] = await field.client.subscription("new-events").getMetadata();
    assert.deepEqual(
      [mine.ackDeadlineSeconds, mine.enableMessageOrdering, made.enableMessageOrdering],
      [33, false, true],
    );
    const id = await field.create(gcp);
    await until(async () => (await field.phase(id)) === "Ready");
  });
});
