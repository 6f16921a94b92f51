// Events on Google's emulator of Pub/Sub: nothing lost, nothing that was rolled back, in order for each resource,
// whatever happens to the network and to replicas.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { suite, test } from "node:test";
import { PubSub, type Message } from "@google-cloud/pubsub";
import { seededRandom, silentLog, systemClock, systemRandom, TaskScope } from "@keelson/base";
import { RecordingMetrics, until } from "@keelson/base/testing";
import { PubsubTransport } from "@keelson/clusters";
import type { ClustersDatabase } from "@keelson/clusters/testing";
import {
  drained,
  eventsOn,
  freshDatabase,
  lengthMs,
  never,
  quickRelay,
  tell,
  type Told,
} from "./events-bed.ts";
import { FaultyWire, sharedEmulator, withoutEmulator } from "./pubsub-emulator.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

const topics = { "cluster-events": "cluster-events", "nodepool-events": "nodepool-events" };

interface Received {
  readonly id: string;
  readonly key: string;
  readonly generation: number;
  readonly data: Record<string, unknown>;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A project of its own on the emulator, with a subscriber that remembers everything. */
class Project implements AsyncDisposable {
  readonly id = `p-${systemRandom.uuid().slice(0, 8)}`;
  readonly received: Received[] = [];
  readonly client: PubSub;

  constructor(host: string) {
    this.client = new PubSub({ projectId: this.id, apiEndpoint: host, emulatorMode: true });
  }

  async subscribe(topic = "cluster-events"): Promise<void> {
    const [subscription] = await this.client
      .topic(topic)
      .createSubscription(`all-${topic}`, { enableMessageOrdering: true });
    subscription.on("message", (message: Message) => {
      const data = JSON.parse(message.data.toString()) as Record<string, unknown>;
      this.received.push({
        id: String(data["id"]),
        key: message.orderingKey ?? "",
        generation: Number(data["generation"]),
        data,
        attributes: message.attributes,
      });
      message.ack();
    });
    subscription.on("error", () => undefined);
  }

  /** What came of a resource, each event where it came first. */
  generations(key: string): number[] {
    const seen = new Set<string>();
    return this.received
      .filter((one) => one.key === key && !seen.has(one.id) && seen.add(one.id))
      .map(({ generation }) => generation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

function transportTo(
  project: Project,
  emulatorHost: string,
  requestTimeoutMs = 1_800,
): PubsubTransport {
  return new PubsubTransport({
    projectId: project.id,
    emulatorHost,
    topics,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    requestTimeoutMs,
  });
}

interface Bed extends AsyncDisposable {
  readonly tables: ClustersDatabase;
  readonly project: Project;
  readonly wire: FaultyWire;
  readonly transport: PubsubTransport;
  readonly metrics: RecordingMetrics;
  /** The loops of this replica. */
  readonly scope: TaskScope;
  tell(...all: readonly Told[]): Promise<void>;
}

/** As good as for ever: who waits for a publish to end by itself is caught by the end of the test. */
const patient = {
  requestTimeoutMs: 3_600_000,
  relay: { leaseMs: 10_800_000, publishTimeoutMs: 7_200_000 },
};

async function startBed({
  requestTimeoutMs,
  relay = quickRelay,
}: Partial<typeof patient> = {}): Promise<Bed> {
  await using setup = new AsyncDisposableStack();
  const { host } = await sharedEmulator();
  const metrics = new RecordingMetrics();
  const tables = setup.use(await freshDatabase({ metrics }));
  const wire = setup.use(await FaultyWire.to(host));
  const project = setup.use(new Project(host));
  const transport = setup.use(transportTo(project, wire.host, requestTimeoutMs));
  await transport.prepare(never);
  await project.subscribe();
  const scope = setup.use(new TaskScope(never));
  eventsOn(tables.database, { transport, relay }).run(scope);
  const kept = setup.move();
  return {
    tables,
    project,
    wire,
    transport,
    metrics,
    scope,
    tell: (...all) => tellOn(tables, all),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function tellOn({ database }: ClustersDatabase, all: readonly Told[]): Promise<void> {
  await database.transaction(async (sql) => {
    for (const one of all) await sql.run(tell, one);
  }, never);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

suite("events on Pub/Sub", { skip: withoutEmulator }, () => {
  test("each event arrives in the order of its resource, with everything it has to say", async () => {
    await using bed = await startBed();
    const ids = [systemRandom.uuid(), systemRandom.uuid()];
    for (const generation of upTo(20)) {
      await bed.tell(...ids.map((clusterId) => ({ clusterId, generation, platform: "GCP" })));
    }
    // One may come twice: where an answer was late it was published again.
    await until(() => ids.every((id) => bed.project.generations(id).length >= 20));
    for (const id of ids) assert.deepEqual(bed.project.generations(id), upTo(20));
    const [first] = bed.project.received;
    const { id, user, metadata, ...shared } = first?.data ?? {};
    assert.deepEqual(metadata, {});
    assert.deepEqual(first?.attributes, {
      ...Object.fromEntries(Object.entries(shared).map(([name, value]) => [name, String(value)])),
      event_id: id,
      user_email: (user as { readonly email: string }).email,
      user_domain: "example.com",
      user_roles: "",
    });
    assert.deepEqual(
      [first.data["platform"], first.data["source"], first.data["event_type"]],
      ["gcp", "cls-backend", "cluster.updated"],
    );
  });

  test("topics that are there are not touched, those that vanish are made again", async () => {
    const { host } = await sharedEmulator();
    await using project = new Project(host);
    await project.client.createTopic({ name: "cluster-events", labels: { kept: "yes" } });
    await using transport = transportTo(project, host);
    await transport.prepare(never);
    const [topic] = await project.client.topic("cluster-events").getMetadata();
    assert.deepEqual({ ...topic.labels }, { kept: "yes" });
    const [isThere] = await project.client.topic("nodepool-events").exists();
    assert.equal(isThere, true);

    await project.client.topic("cluster-events").delete();
    await transport.publish(
      [
        {
          position: 1,
          eventId: systemRandom.uuid(),
          topic: "cluster-events",
          orderingKey: "k",
          data: {},
          attributes: { user_roles: "ü".repeat(2_000) },
          createdAt: new Date(0),
        },
      ],
      never,
    );
    const [isBack] = await project.client.topic("cluster-events").exists();
    assert.equal(isBack, true);
  });

  for (const mode of ["refuse", "hang"] as const) {
    test(`while Pub/Sub ${mode}s everything is kept; afterwards it arrives in order, deletions too`, async () => {
      await using bed = await startBed();
      const id = systemRandom.uuid();
      await bed.tell({ clusterId: id, generation: 1 });
      await until(() => bed.project.received.length >= 1);
      bed.wire.mode = mode;
      const endMs = systemClock.monotonic() + lengthMs;
      for (const generation of [2, 3]) await bed.tell({ clusterId: id, generation });
      await bed.tell({ clusterId: id, generation: 4, type: "cluster.deleted" });
      await until(() => bed.transport.health.status === "failing");
      assert.deepEqual(bed.project.generations(id), [1]);
      assert.equal(await drained(bed.tables), false);
      await until(async () => {
        const [row] = await bed.tables.query<{ attempts: number }>(
          `SELECT attempts FROM outbox_keys WHERE ordering_key = $1`,
          [id],
        );
        return (row?.attempts ?? 0) >= 2;
      });
      await systemClock.sleep(Math.max(0, endMs - systemClock.monotonic()), never);
      bed.wire.mode = "pass";
      await until(() => drained(bed.tables));
      await until(() => bed.project.generations(id).length === 4);
      assert.deepEqual(bed.project.generations(id), [1, 2, 3, 4]);
      const last = bed.project.received.find(({ generation }) => generation === 4);
      assert.equal(last?.data["type"], "cluster.deleted");
      await until(() => bed.transport.health.status === "ok");
    });
  }

  test("one that Pub/Sub will never take keeps nobody else waiting, and backlog and age tell of it", async () => {
    await using bed = await startBed();
    const [poison, good] = [systemRandom.uuid(), systemRandom.uuid()];
    await bed.tell({ clusterId: poison, generation: 1 });
    await until(() => bed.project.received.length >= 1);
    // More than a request may hold.
    await bed.tables.query(
      `INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data)
       SELECT gen_random_uuid(), 'cluster-events', $1::text,
              event_data(gen_random_uuid(), 'cluster.updated', $1::text::uuid, NULL, 2, 'gcp', 'spec_change',
                         'alice@example.com', NULL, jsonb_build_object('much', repeat('x', 11000000)))`,
      [poison],
    );
    await bed.tell({ clusterId: poison, generation: 3 });
    for (const generation of upTo(5)) await bed.tell({ clusterId: good, generation });
    await until(() => bed.project.generations(good).length === 5);
    await until(() => (bed.metrics.value("keelson_outbox_backlog", outboxLabel) ?? 0) >= 2);
    await until(
      () => (bed.metrics.value("keelson_outbox_oldest_age_seconds", outboxLabel) ?? 0) > 0,
    );
    assert.deepEqual(bed.project.generations(poison), [1], "its later events wait behind it");
  });

  test("stopping does not wait for a publish that hangs", async () => {
    await using bed = await startBed(patient);
    await bed.tell({ clusterId: systemRandom.uuid() });
    await until(() => bed.project.received.length >= 1);
    bed.wire.mode = "hang";
    await bed.tell({ clusterId: systemRandom.uuid() });
    await until(async () => {
      const [row] = await bed.tables.query<{ claimed: boolean }>(
        `SELECT bool_or(claim IS NOT NULL) AS claimed FROM outbox_keys`,
      );
      return row?.claimed === true;
    });
    await bed.scope[Symbol.asyncDispose]();
    const [row] = await bed.tables.query<{ claims: number }>(
      `SELECT count(claim)::integer AS claims FROM outbox_keys`,
    );
    assert.equal(row?.claims, 0, "its claim was given back");
  });

  for (const [point, copies] of [
    ["claimed", 1],
    ["published", 2],
  ] as const) {
    test(`a replica killed once it has ${point} an event costs its lease, and the event comes ${copies === 1 ? "once" : "twice, with the same id"}`, async () => {
      const { host } = await sharedEmulator();
      await using tables = await freshDatabase();
      await using project = new Project(host);
      await using transport = transportTo(project, host);
      await transport.prepare(never);
      await project.subscribe();
      const id = systemRandom.uuid();
      await tellOn(tables, [{ clusterId: id, generation: 1 }]);
      const program = new URL("./pubsub-process.ts", import.meta.url).pathname;
      const child = endsWithUs(
        spawn(process.execPath, [program, tables.url, host, project.id, point], {
          stdio: ["ignore", "pipe", "inherit"],
        }),
      );
      const exited = new Promise((resolve) => child.once("exit", resolve));
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await until(() => said.includes(point));
      child.kill("SIGKILL");
      await exited;
      assert.equal(await drained(tables), false);
      await using scope = new TaskScope(never);
      eventsOn(tables.database, { transport }).run(scope);
      await tellOn(tables, [{ clusterId: id, generation: 2 }]);
      await until(() => drained(tables));
      await until(() => project.received.length >= copies + 1);
      assert.deepEqual(project.generations(id), [1, 2]);
      assert.equal(new Set(project.received.map((one) => one.id)).size, 2);
    });
  }

  test("three replicas, writers that roll back, and a network that comes and goes: everything is accounted for", async () => {
    await using bed = await startBed();
    const { host } = await sharedEmulator();
    await using wires = new AsyncDisposableStack();
    const network = [bed.wire];
    for (let replica = 2; replica <= 3; replica++) {
      const wire = wires.use(await FaultyWire.to(host));
      network.push(wire);
      const transport = wires.use(transportTo(bed.project, wire.host));
      const database = bed.tables.openAnother();
      eventsOn(database, { transport, relay: quickRelay }).run(bed.scope);
    }
    const random = seededRandom("three replicas");
    const committed = new Map<string, number[]>();
    const doomed = new Set<number>();
    const endMs = systemClock.monotonic() + lengthMs;
    const written = new AbortController();
    const breaking = (async () => {
      while (!written.signal.aborted) {
        random.pick(network).mode = random.pick(["pass", "pass", "refuse", "hang"] as const);
        await systemClock.sleep(random.integer(150), never);
      }
      for (const wire of network) wire.mode = "pass";
    })();
    await Promise.all(
      upTo(6).map(async (writer) => {
        const clusterId = systemRandom.uuid();
        const own: number[] = [];
        committed.set(clusterId, own);
        for (let step = 1; step <= 25 || systemClock.monotonic() < endMs; step++) {
          // Beyond the gate's length no faster than the emulator.
          if (step > 25) await systemClock.sleep(random.integer(200), never);
          const generation = writer * 1_000_000 + step;
          const isDoomed = random.integer(5) === 0;
          await bed.tables.database
            .transaction(async (sql) => {
              await sql.run(tell, { clusterId, generation });
              if (isDoomed) throw new Error("doomed");
            }, never)
            .then(
              () => own.push(generation),
              () => doomed.add(generation),
            );
        }
      }),
    );
    written.abort();
    await breaking;
    await until(() => drained(bed.tables), "the backlog has drained");
    const total = [...committed.values()].reduce((sum, own) => sum + own.length, 0);
    const distinct = (): number => new Set(bed.project.received.map(({ id }) => id)).size;
    await until(() => distinct() >= total, "all have arrived");
    assert.equal(distinct(), total);
    assert.ok(bed.project.received.every(({ generation }) => !doomed.has(generation)));
    for (const [id, own] of committed) assert.deepEqual(bed.project.generations(id), own);
  });
});

const outboxLabel = { outbox: "lifecycle.outbox" };
