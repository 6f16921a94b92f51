// How many events a second the outbox takes and relays, and how long after its commit a subscriber has one.
// The writers have a process of their own, as the clients of a service have.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { seededRandom, systemClock, systemRandom, TaskScope } from "@keelson/base";
import {
  migrate,
  openDatabase,
  Outbox,
  outboxMigrations,
  Relay,
  sharedMigrations,
  Tail,
  Wakeups,
  type NumberedEvent,
  type OutboxEvent,
} from "@keelson/database";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";

interface Load {
  readonly url: string;
  readonly writers: number;
  readonly rowsPerTransaction: number;
  readonly forMs: number;
  /** How many rows a second to offer; as many as possible when absent. */
  readonly rowsPerSecond?: number;
}

const never = new AbortController().signal;
const name = "lifecycle.outbox";
const searchPath = ["lifecycle", "public"];

/** Runs all loads against a fresh PostgreSQL of ours, fsync on, and gives the rows of the table. */
export async function bench(run: Run): Promise<readonly Row[]> {
  const forMs = numberOf(run, "ms", run.isQuick ? 1_000 : 5_000);
  await using server = await startThrowawayPostgres({ flavour: "embedded" });
  await using home = await server.createDatabase();
  const { url } = home;
  await using database = openDatabase({ url, name: "bench", searchPath });
  await migrate(database, [sharedMigrations, outboxMigrations("lifecycle")], never);
  await using relay = startRelay(url);
  const rows: Row[] = [];
  const measure = async (load: Omit<Load, "url" | "forMs">) =>
    relay.measure({ url, forMs, ...load });

  await measure({ writers: 4, rowsPerTransaction: 1, rowsPerSecond: 200 }); // Connections, plans, caches.
  for (const writers of [1, 16, 64]) {
    const result = await measure({ writers, rowsPerTransaction: 1 });
    const label = `outbox, ${writers} writers, 1 row each`;
    rows.push({ name: `${label}: committed`, value: result.committedPerSecond, unit: "rows/s" });
    rows.push({ name: `${label}: relayed`, value: result.relayedPerSecond, unit: "rows/s" });
    rows.push({ name: `${label}: commit to subscriber p50`, value: result.p50, unit: "ms" });
    rows.push({ name: `${label}: commit to subscriber p99`, value: result.p99, unit: "ms" });
  }

  const steady = await measure({ writers: 16, rowsPerTransaction: 1, rowsPerSecond: 500 });
  const latencies = "outbox at 500 rows/s: commit to subscriber";
  rows.push({ name: `${latencies} p50`, value: steady.p50, unit: "ms" });
  rows.push(judged({ name: `${latencies} p99`, value: steady.p99, unit: "ms" }, { atMost: 20 }));

  const offered = await measure({ writers: 16, rowsPerTransaction: 10, rowsPerSecond: 5_000 });
  // No more is committed than is offered, and a little less where a writer is late.
  const wanted = 4_750;
  const least = Math.min(offered.committedPerSecond, offered.relayedPerSecond);
  rows.push({
    name: "outbox offered 5000 rows/s: committed",
    value: offered.committedPerSecond,
    unit: "rows/s",
  });
  rows.push({
    name: "outbox offered 5000 rows/s: relayed",
    value: offered.relayedPerSecond,
    unit: "rows/s",
    goal: `≥ ${wanted}, backlog gone within 1 s`,
    met: offered.drainMs <= 1_000 && least >= wanted,
  });
  rows.push({
    name: "outbox offered 5000 rows/s: backlog gone after",
    value: offered.drainMs,
    unit: "ms",
  });
  rows.push({
    name: "outbox offered 5000 rows/s: commit to subscriber p99",
    value: offered.p99,
    unit: "ms",
  });
  return rows;
}

/** A replica that numbers, relays and has one subscriber, all in this process. */
function startRelay(url: string) {
  const stack = new AsyncDisposableStack();
  const database = stack.use(openDatabase({ url, name: "relay", searchPath, connectionsMax: 8 }));
  const wakeups = new Wakeups({ database });
  const outbox = new Outbox({ database, wakeups, name });
  let relayed = 0;
  let latencies: number[] = [];
  const transport = {
    async publish(events: readonly NumberedEvent[]): Promise<void> {
      relayed += events.length;
    },
  };
  const relay = new Relay({ outbox, transport });
  const tail = new Tail({ source: outbox });
  const scope = stack.use(new TaskScope(never));
  scope.spawn("wake-ups", (signal) => wakeups.run(signal));
  scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
  scope.spawn("relay", (signal) => relay.run(signal));
  scope.spawn("tail", (signal) => tail.run(signal));
  // A writer tells of the commit only after it: until then the moment of seeing waits here.
  const seenAt = new Map<string, number>();
  const committedAt = new Map<string, number>();
  scope.spawn("subscriber", async (signal) => {
    for await (const events of tail.follow(await tail.now(signal), signal)) {
      const now = systemClock.now();
      for (const { eventId } of events) settle(eventId, committedAt.get(eventId), now);
    }
  });
  const settle = (
    eventId: string,
    committed: number | undefined,
    seen: number | undefined,
  ): void => {
    if (committed === undefined || seen === undefined) {
      if (seen !== undefined) seenAt.set(eventId, seen);
      if (committed !== undefined) committedAt.set(eventId, committed);
      return;
    }
    seenAt.delete(eventId);
    committedAt.delete(eventId);
    latencies.push(Math.max(0, seen - committed));
  };

  return {
    async measure(load: Load) {
      relayed = 0;
      latencies = [];
      const startMs = systemClock.monotonic();
      const writers = fork(fileURLToPath(import.meta.url), [JSON.stringify(load)]);
      // It numbers what it writes, as every process of a service does; a notification wakes us.
      const { committed, tookMs, moments } = await written(writers);
      for (const [eventId, at] of moments) settle(eventId, at, seenAt.get(eventId));
      const endMs = systemClock.monotonic();
      const deadlineMs = endMs + 60_000;
      const isDone = (): boolean => relayed >= committed && latencies.length >= committed;
      while (!isDone()) {
        if (systemClock.monotonic() > deadlineMs) {
          const seen = `${relayed} were relayed and ${latencies.length} seen`;
          throw new Error(`of ${committed} rows ${seen} after a minute`);
        }
        await systemClock.sleep(2, never);
      }
      const doneMs = systemClock.monotonic();
      const startUpMs = endMs - startMs - tookMs;
      latencies.sort((a, b) => a - b);
      return {
        committedPerSecond: Math.round(committed / (tookMs / 1000)),
        relayedPerSecond: Math.round(relayed / ((doneMs - startMs - startUpMs) / 1000)),
        drainMs: Math.round(doneMs - endMs),
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface Written {
  readonly committed: number;
  readonly tookMs: number;
  readonly moments: readonly (readonly [eventId: string, at: number])[];
}

async function written(writers: ChildProcess): Promise<Written> {
  const ended = once(writers, "exit");
  ended.catch(() => undefined); // It is awaited below.
  const [message] = (await Promise.race([
    once(writers, "message"),
    once(writers, "disconnect").then(() => {
      throw new Error("the writers ended and told nothing");
    }),
  ])) as [Written];
  await ended;
  return message;
}

/** The other process: writes as told, and tells the moment of every commit. */
async function write({
  url,
  writers,
  rowsPerTransaction,
  forMs,
  rowsPerSecond,
}: Load): Promise<Written> {
  await using database = openDatabase({
    url,
    name: "writers",
    searchPath,
    connectionsMax: writers,
  });
  const wakeups = new Wakeups({ database });
  const outbox = new Outbox({ database, wakeups, name });
  await using scope = new TaskScope(never);
  scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
  const moments: [string, number][] = [];
  let committed = 0;
  const startMs = systemClock.monotonic();
  const untilMs = startMs + forMs;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const random = seededRandom(`${writer}`);
      for (let i = 0; systemClock.monotonic() < untilMs; i++) {
        if (rowsPerSecond !== undefined) {
          const dueMs =
            startMs + ((i * writers + writer) * rowsPerTransaction * 1000) / rowsPerSecond;
          await systemClock.sleep(dueMs - systemClock.monotonic(), never);
        }
        const events = Array.from({ length: rowsPerTransaction }, () =>
          sample(`k${random.integer(2_000)}`),
        );
        await database.transaction((sql) => outbox.append(sql, events), never);
        const at = systemClock.now();
        for (const { eventId } of events) moments.push([eventId, at]);
        committed += events.length;
      }
    }),
  );
  const tookMs = systemClock.monotonic() - startMs;
  await outbox.numberAll(never); // A process that goes leaves nothing for the next poll of another.
  return { committed, tookMs, moments };
}

function sample(orderingKey: string): OutboxEvent {
  const data = {
    type: "cluster.updated",
    cluster_id: orderingKey,
    generation: 3,
    platform: "gcp",
    reason: "spec_change",
    source: "cls-backend",
    created_by: "alice@example.com",
    user: { email: "alice@example.com", domain: "example.com", roles: ["editor"] },
    metadata: {},
  };
  const attributes = { type: data.type, cluster_id: orderingKey, platform: "gcp", generation: "3" };
  return { eventId: systemRandom.uuid(), topic: "cluster-events", orderingKey, data, attributes };
}

function quantile(sorted: readonly number[], q: number): number {
  return Math.round((sorted[Math.floor(sorted.length * q)] ?? 0) * 10) / 10;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const done = await write(JSON.parse(process.argv[2] ?? "{}") as Load);
  process.send?.(done, () => process.disconnect());
}
