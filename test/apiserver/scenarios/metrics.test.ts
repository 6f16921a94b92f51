// Every metric that apiserver.md §6 names, as a running server shows it: there, with its labels, and true.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Sql } from "postgres";

import { configMap } from "../objects.ts";
import { drivers } from "../ours.ts";
import { concurrency } from "./length.ts";
import { asked, budget, budgets, MetricsBed, path, writes } from "./metrics-bed.ts";
import type { Readings, Sample } from "./metrics.ts";
import { openStream, openUnread } from "./stream.ts";

const request = ["code", "group", "resource", "subresource", "verb", "version"];
const operation = ["kind", "operation", "outcome"];

/** By the name of each metric, the labels that its series have. */
const everywhere: Readonly<Record<string, readonly string[]>> = {
  apiserver_request_total: request,
  apiserver_request_duration_seconds_count: request,
  apiserver_current_inflight_requests: [],
  apiserver_longrunning_requests: ["group", "resource", "version"],
  apiserver_watch_events_total: ["group", "kind", "version"],
  apiserver_storage_objects: ["resource"],
  keelson_store_operations_total: operation,
  keelson_store_operation_seconds_count: operation,
  keelson_store_batch_size_count: [],
  keelson_store_commit_seconds_count: [],
  keelson_store_head_revision: [],
  keelson_store_floor_revision: [],
  keelson_store_log_rows: [],
  keelson_store_size_bytes: [],
  keelson_store_database_up: [],
  keelson_store_corrupt_total: [],
  keelson_watch_active: [],
  keelson_watch_behind: [],
  keelson_watch_delivery_seconds_count: [],
  keelson_watch_expired_total: ["kind"],
  // Counters, which are there from the start though nothing is counted.
  keelson_notify_received_total: [],
  keelson_notify_reconnects_total: [],
};

/** What applies to connections; a file has none. */
const onPostgres: Readonly<Record<string, readonly string[]>> = {
  keelson_store_pool_open: [],
  keelson_store_pool_in_use: [],
  keelson_store_pool_waiting: [],
  keelson_notify_connected: [],
  keelson_notify_degraded: [],
};

/** As the store calls it. */
const kind = "PodDisruptionBudget.policy";
const maps = "/api/v1/namespaces/default/configmaps";

suite("metrics of the API server", { concurrency }, () => {
  for (const driver of drivers) {
    test(`every one that the contract names is there, with its labels, and true, on ${driver}`, async (t) => {
      await using bed = await MetricsBed.start(driver, t.signal);
      await bed.load();
      await bed.holds(assertRequests);
      await bed.holds(assertOperations);
      await bed.holds(assertWatches);
      await assertExpiries(bed);
      await assertSizes(bed);
      if (bed.sql !== undefined) {
        await assertConnections(bed, bed.sql);
        await assertWakeups(bed, bed.sql);
      }
      await assertObjects(bed);
      await assertLabels(bed);
    });
  }
});

/** What was asked for. A watch is a request once it has ended, and has no duration; of two one has ended. */
function assertRequests(now: Readings): void {
  assert.deepEqual(requestsOf(now.of("apiserver_request_total")), { ...asked, "watch 200": 1 });
  assert.deepEqual(requestsOf(now.of("apiserver_request_duration_seconds_count")), asked);
  assert.equal(now.value("apiserver_longrunning_requests", budgets), 1);
  assert.equal(now.value("apiserver_current_inflight_requests"), 0);
}

/** What became of it in the store: each write was in one batch, each batch was one commit, and nothing was damaged. */
function assertOperations(now: Readings): void {
  const operations = now.of("keelson_store_operations_total");
  const told = (operation: string, outcome: string): number | undefined =>
    now.value("keelson_store_operations_total", { operation, kind, outcome });
  assert.deepEqual(
    {
      create: told("create", "ok"),
      exists: told("create", "AlreadyExists"),
      list: told("list", "ok"),
      missing: told("get", "NotFound"),
      update: told("update", "ok"),
      delete: told("delete", "ok"),
    },
    { create: 5, exists: 1, list: 2, missing: 1, update: 2, delete: 2 },
  );
  const timed = operations.map(({ labels }) =>
    now.value("keelson_store_operation_seconds_count", labels),
  );
  assert.deepEqual(
    timed,
    operations.map(({ value }) => value),
  );
  const isWrite = ({ operation = "" }: Sample["labels"]): boolean =>
    ["create", "update", "delete"].includes(operation);
  assert.equal(
    now.value("keelson_store_batch_size_sum"),
    now.sum("keelson_store_operations_total", isWrite),
  );
  assert.equal(
    now.value("keelson_store_batch_size_count"),
    now.value("keelson_store_commit_seconds_count"),
  );
  assert.equal(now.value("keelson_store_database_up"), 1);
  assert.equal(now.value("keelson_store_corrupt_total"), 0);
}

/** Two watchers had every write, each of which was a commit of its own; all are level. */
function assertWatches(now: Readings): void {
  const { group, version } = budgets;
  const labels = { group, version, kind: "PodDisruptionBudget" };
  assert.equal(now.value("apiserver_watch_events_total", labels), 2 * writes);
  assert.ok((now.value("keelson_watch_delivery_seconds_count") ?? 0) >= writes);
  assert.equal(now.value("keelson_watch_behind"), 0);
}

/** Watches from below the floor, and one that reads nothing until the log that it needs is gone. */
async function assertExpiries(bed: MetricsBed): Promise<void> {
  const expired = (now: Readings, kind: string): number | undefined =>
    now.value("keelson_watch_expired_total", { kind });
  await bed.holds((now) => assert.ok((now.value("keelson_store_floor_revision") ?? 0) > 2));
  for (const turn of [1, 2, 3]) {
    using stream = await openStream(bed.server, `${path}?watch=1&resourceVersion=2`, bed.signal);
    const event = await stream.next(bed.signal);
    assert.deepEqual([event?.type, event?.object["code"]], ["ERROR", 410]);
    assert.equal(expired(await bed.read(), kind), turn);
  }

  const active = await bed.settledWatches();
  using slow = await openUnread(bed.server, `${maps}?watch=1`, bed.signal);
  const last = await fillUntilBehind(bed);
  assert.equal(expired(await bed.read(), "ConfigMap"), undefined);
  await bed.holds((now) => assert.ok((now.value("keelson_store_floor_revision") ?? 0) >= last));
  const stream = slow.read();
  let code: unknown;
  for (;;) {
    const event = await stream.next(bed.signal);
    if (event === undefined) break;
    ({ code } = event.object);
  }
  assert.equal(code, 410);
  await bed.holds((now) => {
    assert.deepEqual([expired(now, "ConfigMap"), expired(now, kind)], [1, 3]);
    assert.equal(now.value("keelson_watch_behind"), 0);
    assert.equal(now.value("keelson_watch_active"), active);
  });
}

/**
 * First the connection of a watcher has to be full, then its buffer of a hundred changes, which are more than memory keeps of
 * the log. Answers the last revision.
 */
async function fillUntilBehind(bed: MetricsBed): Promise<number> {
  await bed.must({ method: "POST", path: maps, body: configMap("much") }, 201);
  let revision = 0;
  for (let turn = 0; ; turn += 1) {
    const body = configMap("much", { text: `${turn} ${"x".repeat(300_000)}` });
    const { metadata } = await bed.must({ method: "PUT", path: `${maps}/much`, body }, 200);
    revision = Number(metadata.resourceVersion);
    if (turn % 10 !== 0) continue;
    if ((await bed.read()).value("keelson_watch_behind") === 1) return revision;
  }
}

/** What the gauges say of the database is what is there. */
async function assertSizes(bed: MetricsBed): Promise<void> {
  await bed.holds(async (now) => {
    const { metadata } = await bed.must({ path: `${path}?limit=1` }, 200);
    assert.equal(String(now.value("keelson_store_head_revision")), metadata.resourceVersion);
  });
  await bed.holds(async (now) => {
    const shown = {
      floor: now.value("keelson_store_floor_revision"),
      rows: now.value("keelson_store_log_rows"),
      bytes: now.value("keelson_store_size_bytes"),
    };
    assert.deepEqual(shown, await bed.truth());
  });
}

/** Six lists wait for a table that somebody holds: of four connections each has one, the others wait. */
async function assertConnections(bed: MetricsBed, sql: Sql): Promise<void> {
  const pool = (now: Readings, state: string): number =>
    now.value(`keelson_store_pool_${state}`) ?? NaN;
  await sql`BEGIN`;
  await sql`LOCK TABLE ark.meta IN ACCESS EXCLUSIVE MODE`;
  const lists = Array.from({ length: 6 }, () => bed.must({ path }, 200));
  try {
    await bed.holds((now) => {
      assert.equal(now.value("apiserver_current_inflight_requests"), 6);
      // A loop may have come to read or to write, too.
      assert.ok([4, 5].includes(pool(now, "in_use")), `${pool(now, "in_use")} in use`);
      assert.ok(pool(now, "waiting") >= 2, `${pool(now, "waiting")} wait`);
    });
  } finally {
    await sql`COMMIT`;
  }
  await Promise.all(lists);
  await bed.holds(async (now) => {
    const [row] = await sql`SELECT count(*)::int AS sessions FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'keelson-store'`;
    assert.deepEqual(
      { open: pool(now, "open"), inUse: pool(now, "in_use"), waiting: pool(now, "waiting") },
      { open: Number(row?.["sessions"]), inUse: 0, waiting: 0 },
    );
    assert.equal(pool(now, "open"), 6);
  });
}

/** Every commit is heard of, and a connection that listens and was ended is made again. */
async function assertWakeups(bed: MetricsBed, sql: Sql): Promise<void> {
  const listener = (now: Readings) => ({
    connected: now.value("keelson_notify_connected"),
    degraded: now.value("keelson_notify_degraded"),
    reconnects: now.value("keelson_notify_reconnects_total"),
  });
  const heard = (now: Readings): number => now.value("keelson_notify_received_total") ?? NaN;
  await bed.holds((now) =>
    assert.deepEqual(listener(now), { connected: 1, degraded: 0, reconnects: 0 }),
  );
  const before = heard(await bed.read());
  for (const name of ["f", "g", "h"])
    await bed.must({ method: "POST", path, body: budget(name) }, 201);
  await bed.holds((now) => assert.ok(heard(now) >= before + 3, `${before} → ${heard(now)}`));

  const ended = await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'listen %'`;
  assert.equal(ended.length, 1);
  await bed.holds((now) =>
    assert.deepEqual(listener(now), { connected: 1, degraded: 0, reconnects: 1 }),
  );
}

/** Objects are counted every half minute. */
async function assertObjects(bed: MetricsBed): Promise<void> {
  const { items } = await bed.must({ path }, 200);
  await bed.holds((now) => {
    const counted = (resource: string): number | undefined =>
      now.value("apiserver_storage_objects", { resource });
    assert.deepEqual(
      ["poddisruptionbudgets.policy", "namespaces", "deployments.apps"].map(counted),
      [items.length, 4, 0],
    );
  });
}

/** Each metric has its labels; one that does not apply is absent. */
async function assertLabels(bed: MetricsBed): Promise<void> {
  const now = await bed.read();
  const expected = { ...everywhere, ...(bed.driver === "postgresql" ? onPostgres : {}) };
  for (const [name, labels] of Object.entries({ ...everywhere, ...onPostgres })) {
    const series = now.of(name);
    assert.equal(series.length > 0, name in expected, name);
    for (const one of series) assert.deepEqual(Object.keys(one.labels).toSorted(), labels, name);
  }
}

/** The requests for our resource, by verb, subresource and code. */
function requestsOf(samples: readonly Sample[]): Readonly<Record<string, number>> {
  const ours = samples.filter(({ labels }) =>
    Object.entries(budgets).every(([label, value]) => labels[label] === value),
  );
  return Object.fromEntries(
    ours.map(({ labels: { verb, subresource, code }, value }) => [
      [verb, subresource, code].filter((word) => word !== "").join(" "),
      value,
    ]),
  );
}
