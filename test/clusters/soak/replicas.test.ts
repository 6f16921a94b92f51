// Two replicas of `keelson serve` on one PostgreSQL and Pub/Sub, users and controllers before them, and everything that can
// happen to them: replicas killed, the database restarted, Pub/Sub refusing and hanging. Afterwards everything is counted.
// KEELSON_TEST_SECONDS says for how long, KEELSON_TEST_SEED when what happens.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { PubSub, type Message } from "@google-cloud/pubsub";
import { seededRandom, systemClock, systemRandom, type Random } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { openDatabase, statement, type Database } from "@keelson/database";
import { startThrowawayPostgres, type ThrowawayPostgres } from "@keelson/database/testing";
import { createController, pubsub, ready, type JsonMap } from "@keelson/sdk";
import { KeelsonProcess, temporaryFolder } from "../../e2e/keelson-process.ts";
import { lengthMs, never } from "../events-bed.ts";
import { FaultyWire, sharedEmulator, withoutEmulator } from "../pubsub-emulator.ts";

const seed = process.env["KEELSON_TEST_SEED"] ?? systemRandom.uuid();
const projectId = `soak-${systemRandom.uuid().slice(0, 8)}`;

/** One of several equal servers, that is started again whenever it was killed. */
class Replica {
  readonly #dataDir: string;
  readonly #environment: Readonly<Record<string, string>>;
  #process: KeelsonProcess | undefined;
  url: string | undefined;

  constructor(dataDir: string, environment: Readonly<Record<string, string>>) {
    this.#dataDir = dataDir;
    this.#environment = environment;
  }

  async start(): Promise<void> {
    this.#process = new KeelsonProcess(this.#dataDir, {
      command: "serve",
      flags: ["--roles", "rest,scheduler"],
      environment: this.#environment,
    });
    const { rest } = await this.#process.ready();
    this.url = rest;
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    this.url = undefined;
    const ended = await this.#process?.stop(signal);
    return ended?.code ?? null;
  }
}

/** What a user was told of a cluster. */
interface Told {
  readonly id: string;
  generation: number;
  isDeleted: boolean;
}

interface Answer {
  /** 0 for no answer. */
  readonly code: number;
  readonly body: JsonMap;
}

/** A request to whichever replica is there. */
async function ask(
  replicas: readonly Replica[],
  random: Random,
  {
    method,
    path,
    body,
  }: { readonly method: string; readonly path: string; readonly body?: object },
): Promise<Answer> {
  const { url } = random.pick(replicas);
  try {
    const response = await fetch(`${url ?? "http://127.0.0.1:1"}/api/v1${path}`, {
      method,
      headers: { "x-user-email": "alice@example.com", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    return { code: response.status, body: (text === "" ? {} : JSON.parse(text)) as JsonMap };
  } catch {
    await systemClock.sleep(20, never);
    return { code: 0, body: {} };
  }
}

/** A user: declares, changes and deletes clusters until the time is up, and remembers what was answered. */
async function use(
  replicas: readonly Replica[],
  {
    random,
    name,
    endMs,
  }: { readonly random: Random; readonly name: string; readonly endMs: number },
): Promise<readonly Told[]> {
  const told: Told[] = [];
  for (let step = 0; systemClock.monotonic() < endMs; step++) {
    const live = told.filter(({ isDeleted }) => !isDeleted);
    const one = live.length === 0 ? undefined : random.pick(live);
    const dice = random.integer(10);
    if (one === undefined || dice < 3) {
      const spec = { platform: { type: random.pick(["gcp", "aws"]) }, step };
      const sent = { name: `${name}-${step}`, spec };
      const { code, body } = await ask(replicas, random, {
        method: "POST",
        path: "/clusters",
        body: sent,
      });
      assert.ok([0, 201, 503].includes(code), `POST: ${code} ${JSON.stringify(body)}`);
      if (code === 201) told.push({ id: body["id"] as string, generation: 1, isDeleted: false });
    } else if (dice < 9) {
      const body = { spec: { platform: { type: random.pick(["gcp", "aws"]) }, step } };
      const answer = await ask(replicas, random, {
        method: "PUT",
        path: `/clusters/${one.id}`,
        body,
      });
      assert.ok(
        [0, 200, 503].includes(answer.code),
        `PUT: ${answer.code} ${JSON.stringify(answer.body)}`,
      );
      if (answer.code === 200) one.generation = Number(answer.body["generation"]);
    } else {
      const { body: shown } = await ask(replicas, random, {
        method: "GET",
        path: `/clusters/${one.id}`,
      });
      const { phase = "unknown" } = (shown["status"] ?? {}) as { readonly phase?: string };
      const path = `/clusters/${one.id}?confirm=${phase}`;
      const { code } = await ask(replicas, random, { method: "DELETE", path });
      assert.ok([0, 202, 400, 404, 409, 503].includes(code), `DELETE: ${code}`);
      // What was not answered may have been done: nothing is expected of it any more.
      if (code === 202) one.isDeleted = true;
      else if (code === 0 || code === 404 || code === 503) told.splice(told.indexOf(one), 1);
    }
    await systemClock.sleep(100 + random.integer(500), never);
  }
  return told;
}

interface Misfortunes {
  readonly kills: number;
  readonly restarts: number;
  readonly outages: number;
}

/** What happens to them, one thing after the other. */
async function trouble(
  world: {
    readonly replicas: readonly Replica[];
    readonly postgres: ThrowawayPostgres;
    readonly wires: readonly FaultyWire[];
  },
  { random, endMs }: { readonly random: Random; readonly endMs: number },
): Promise<Misfortunes> {
  const counted = { kills: 0, restarts: 0, outages: 0 };
  while (systemClock.monotonic() < endMs) {
    await systemClock.sleep(500 + random.integer(3_000), never);
    switch (random.integer(4)) {
      case 0:
      case 1: {
        const replica = random.pick(world.replicas);
        await replica.end("SIGKILL");
        await replica.start();
        counted.kills++;
        break;
      }
      case 2:
        random.pick(world.wires).mode = random.pick(["pass", "refuse", "hang"] as const);
        counted.outages++;
        break;
      default:
        await world.postgres.restart({ mode: random.pick(["fast", "immediate"] as const) });
        counted.restarts++;
    }
  }
  for (const wire of world.wires) wire.mode = "pass";
  return counted;
}

interface Received {
  readonly id: string;
  readonly type: string;
  readonly key: string;
}

interface Left {
  readonly unnumbered: number;
  readonly unpublished: number;
  readonly deleting: number;
  readonly not_ready: number;
}

const readLeft = statement<undefined, Left>(
  "readLeft",
  (sql) => sql`
    SELECT (SELECT count(*) FROM outbox_unnumbered)::integer AS unnumbered,
           (SELECT count(*) FROM outbox WHERE published_at IS NULL)::integer AS unpublished,
           count(*) FILTER (WHERE deletion_timestamp IS NOT NULL)::integer AS deleting,
           count(*) FILTER (WHERE status ->> 'phase' IS DISTINCT FROM 'Ready')::integer AS not_ready
    FROM clusters WHERE deleted_at IS NULL`,
);

/** Waits until everything is told, done and Ready, as long as it gets less. */
async function rest(database: Database): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let deadlineMs = 0;
  for (;;) {
    const [left] = await database.run(readLeft, undefined, never);
    const sum = Object.values(left ?? {}).reduce((a: number, b: number) => a + b, 0);
    if (sum === 0) return;
    if (sum < least) deadlineMs = systemClock.monotonic() + 180_000;
    least = Math.min(least, sum);
    assert.ok(
      systemClock.monotonic() < deadlineMs,
      `it does not come to rest: ${JSON.stringify(left)}`,
    );
    await systemClock.sleep(200, never);
  }
}

interface EventRow {
  readonly position: string;
  /** Null for what nobody has published yet. */
  readonly published_at: Date | null;
  readonly event_id: string;
  readonly type: string;
  readonly ordering_key: string;
  readonly generation: number;
}

const readEvents = statement<undefined, EventRow>(
  "readEvents",
  (sql) => sql`
    SELECT position, published_at, event_id, data ->> 'type' AS type, ordering_key, (data ->> 'generation')::integer AS generation
    FROM outbox WHERE topic IS NOT NULL ORDER BY position`,
);

interface ClusterRow {
  readonly id: string;
  readonly generation: string;
  readonly is_deleted: boolean;
}

const readClusters = statement<undefined, ClusterRow>(
  "readClusters",
  (sql) => sql`SELECT id, generation, deleted_at IS NOT NULL AS is_deleted FROM clusters`,
);

suite("replicas of cluster lifecycle under everything at once", { skip: withoutEmulator }, () => {
  test("nothing is lost, invented or out of order, and all of it comes to rest", async (t) => {
    t.diagnostic(`seed ${seed}`);
    const random = seededRandom(seed);
    const fork = (what: string): Random => seededRandom(`${seed} ${what}`);
    const { host } = await sharedEmulator();
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder());
    const postgres = stack.use(await startThrowawayPostgres({ flavour: "embedded" }));
    const { url } = await postgres.createDatabase();
    const wires = [stack.use(await FaultyWire.to(host)), stack.use(await FaultyWire.to(host))];
    const replicas = wires.map(
      (wire, index) =>
        new Replica(join(folder.path, `replica-${index}`), {
          DATABASE_URL: url,
          GOOGLE_CLOUD_PROJECT: projectId,
          PUBSUB_EMULATOR_HOST: wire.host,
          METADATA_SERVER_DETECTION: "none",
          RECONCILIATION_CHECK_INTERVAL: "1s",
          KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
        }),
    );
    await Promise.all(replicas.map((replica) => replica.start()));
    stack.defer(async () => void (await Promise.all(replicas.map((one) => one.end("SIGKILL")))));

    const client = new PubSub({ projectId, apiEndpoint: host, emulatorMode: true });
    stack.defer(() => client.close());
    const topic = client.topic("cluster-events");
    await until(async () => (await topic.exists())[0]);
    const [subscription] = await topic.createSubscription("all", { enableMessageOrdering: true });
    const received: Received[] = [];
    subscription.on("message", (message: Message) => {
      const { event_id: id = "", event_type: type = "" } = message.attributes;
      received.push({ id, type, key: message.orderingKey ?? "" });
      message.ack();
    });

    const chooses = fork("controllers");
    const anyReplica = async (input: unknown, init?: RequestInit): Promise<Response> => {
      const { pathname, search } = new URL(String(input));
      return fetch(
        `${chooses.pick(replicas).url ?? "http://127.0.0.1:1"}${pathname}${search}`,
        init,
      );
    };
    for (const [name, options] of [
      ["version", { reconcile: () => ready({ image: "v1" }) }],
      [
        "dns",
        {
          dependsOn: [{ controller: "version", metadataKey: "image" }],
          reconcile: () => ready(),
          finalize: () => undefined,
        },
      ],
    ] as const) {
      const controller = createController({
        name,
        kinds: ["cluster"],
        transport: pubsub({ subscription: `${name}-events`, projectId, emulatorHost: host }),
        api: { url: "http://replicas", fetch: anyReplica },
        retryMs: { initial: 50, max: 2_000 },
        ...options,
      });
      await controller.start();
      stack.use(controller);
    }

    const endMs = systemClock.monotonic() + Math.max(lengthMs, 10_000);
    const [misfortunes, ...all] = await Promise.all([
      trouble({ replicas, postgres, wires }, { random, endMs }),
      ...["a", "b", "c", "d"].map((name) => use(replicas, { random: fork(name), name, endMs })),
    ]);
    const told = all.flat();

    await using database = openDatabase({
      url,
      name: "soak",
      searchPath: ["lifecycle", "public"],
      deadlineMs: 60_000,
    });
    await rest(database);
    await count(database, { told, received });
    t.diagnostic(
      JSON.stringify({ ...misfortunes, clusters: told.length, received: received.length }),
    );
    for (const replica of replicas) assert.equal(await replica.end("SIGTERM"), 0);
  });
});

/** Compares what users were told, what is stored, what was written to be sent and what arrived. */
async function count(
  database: Database,
  { told, received }: { readonly told: readonly Told[]; readonly received: readonly Received[] },
): Promise<void> {
  const clusters = new Map(
    (await database.run(readClusters, undefined, never)).map((row) => [row.id, row]),
  );
  for (const { id, generation, isDeleted } of told) {
    const row = clusters.get(id);
    assert.ok(row !== undefined, `${id} was declared and is not there`);
    assert.ok(Number(row.generation) >= generation, `${id} is behind what its owner was told`);
    assert.ok(row.is_deleted || !isDeleted, `${id} was deleted and is there`);
  }
  // Within the retention of the outbox, an hour, everything that was written is still there.
  const written = await database.run(readEvents, undefined, never);
  const known = new Set(written.map((event) => event.event_id));
  const missing = (): readonly EventRow[] => {
    const arrived = new Set(received.map(({ id }) => id));
    return written.filter((event) => !arrived.has(event.event_id));
  };
  await until(() => missing().length === 0).catch(() => undefined);
  const lost = missing();
  const some = JSON.stringify(lost.slice(0, 5));
  assert.equal(lost.length, 0, `${lost.length} of ${written.length} did not arrive: ${some}`);
  const seen = new Set<string>();
  const firsts = received.filter(({ id }) => !seen.has(id) && seen.add(id)); // One may come twice.
  const invented = firsts.filter(({ id }) => !known.has(id));
  // Those written since the table was read: announcements go on.
  assert.ok(
    invented.every(({ type }) => type === "cluster.reconcile"),
    JSON.stringify(invented),
  );
  const arrived = Map.groupBy(firsts, ({ key }) => key);
  for (const [key, events] of Map.groupBy(written, (event) => event.ordering_key)) {
    const ids = new Set(events.map((event) => event.event_id));
    assert.deepEqual(
      (arrived.get(key) ?? []).map(({ id }) => id).filter((id) => ids.has(id)),
      events.map((event) => event.event_id),
      `${key} came in another order`,
    );
    const changes = events.filter(({ type }) => type !== "cluster.reconcile");
    const row = clusters.get(key);
    assert.deepEqual(
      changes.map(({ type, generation }) => `${type} ${generation}`),
      Array.from({ length: Number(row?.generation) }, (_, index) => {
        const isLast = index + 1 === Number(row?.generation);
        if (index === 0) return "cluster.created 1";
        return isLast && row?.is_deleted
          ? `cluster.deleted ${index + 1}`
          : `cluster.updated ${index + 1}`;
      }),
      `${key} was not told of once for each change`,
    );
  }
}
