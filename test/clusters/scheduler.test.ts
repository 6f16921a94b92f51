// Announcements: when, why, once, and ever more seldom where nobody answers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { suite, test } from "node:test";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { Scheduler, schedulerMetrics, type SchedulerOptions } from "@keelson/clusters";
import { createClustersDatabase, type ClustersDatabase } from "@keelson/clusters/testing";
import { Outbox, statement, Wakeups, type Database } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { until } from "../oracle/until.ts";

const never = new AbortController().signal;
const minute = 60_000;
const hour = 60 * minute;

const cadence = { unhealthyMs: 30_000, healthyMs: 5 * minute, newMs: 2 * hour, decayAfter: 10 };

/** Time that a test moves on; it begins where the database is. */
class TestTime {
  #aheadMs = 0;
  now(): number {
    return systemClock.now() + this.#aheadMs;
  }
  pass(ms: number): void {
    this.#aheadMs += ms;
  }
}

function schedulerOn(database: Database, options: Partial<SchedulerOptions> = {}): Scheduler {
  const wakeups = new Wakeups({ database });
  return new Scheduler({
    database,
    outbox: new Outbox({ database, wakeups, name: "lifecycle.outbox" }),
    clock: systemClock,
    time: systemClock,
    random: systemRandom,
    log: silentLog,
    metrics: schedulerMetrics(new RecordingMetrics()),
    cadence,
    tickMs: 30_000,
    refreshStatuses: async () => undefined,
    ...options,
  });
}

async function fresh(): Promise<ClustersDatabase> {
  return createClustersDatabase(await sharedThrowawayPostgres("embedded"));
}

interface Cluster {
  readonly name?: string;
  readonly phase?: string;
  /** How long ago it was made. */
  readonly ageMs?: number;
  /** When it was announced last; null is never. */
  readonly reconciledMs?: number | null;
}

/** A cluster whose status was calculated for its generation. */
async function insertCluster(
  tables: ClustersDatabase,
  { name = systemRandom.uuid(), phase = "Pending", ageMs = 0, reconciledMs = null }: Cluster = {},
): Promise<string> {
  const [row] = await tables.query<{ id: string }>(
    `INSERT INTO clusters (name, created_by, spec, status, status_dirty, created_at)
     VALUES ($1, 'alice@example.com', '{"platform": {"type": "gcp"}}',
             jsonb_build_object('phase', $2::text, 'observedGeneration', 1), false,
             now() - $3::float8 * interval '1 ms') RETURNING id`,
    [name, phase, ageMs],
  );
  assert.ok(row !== undefined);
  if (reconciledMs !== null) {
    await tables.query(
      `UPDATE reconciliation_schedule SET last_reconciled_at = now() - $2::float8 * interval '1 ms'
       WHERE cluster_id = $1`,
      [row.id, reconciledMs],
    );
  }
  return row.id;
}

async function report(
  tables: ClustersDatabase,
  id: string,
  { name = "dns", generation = 1, available = "True" } = {},
): Promise<void> {
  await tables.query(
    `INSERT INTO controller_status (cluster_id, controller_name, observed_generation, conditions)
     VALUES ($1, $2, $3, jsonb_build_array(jsonb_build_object('type', 'Available', 'status', $4::text)))
     ON CONFLICT (cluster_id, controller_name) DO UPDATE
     SET observed_generation = excluded.observed_generation, conditions = excluded.conditions`,
    [id, name, generation, available],
  );
}

interface Announcement {
  readonly ordering_key: string;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

async function announcements(tables: ClustersDatabase): Promise<readonly Announcement[]> {
  return tables.query<Announcement>(
    `SELECT ordering_key, data ->> 'reason' AS reason, data -> 'metadata' AS metadata
     FROM outbox_unnumbered ORDER BY id`,
  );
}

async function waitOf(tables: ClustersDatabase, id: string, nowMs: number): Promise<number> {
  const [row] = await tables.query<{ ms: number }>(
    `SELECT (extract(epoch FROM next_reconcile_at) * 1000)::float8 AS ms
     FROM reconciliation_schedule WHERE cluster_id = $1`,
    [id],
  );
  return Math.round(((row?.ms ?? NaN) - nowMs) / 1_000);
}

suite("scheduler", () => {
  const cases: readonly {
    readonly name: string;
    readonly cluster: Cluster;
    readonly reports?: readonly Parameters<typeof report>[2][];
    readonly reason: string;
    readonly seconds: number;
  }[] = [
    {
      name: "a new one that nobody was told of",
      cluster: {},
      reason: "never_reconciled",
      seconds: 30,
    },
    {
      name: "one that is new and Ready",
      cluster: { phase: "Ready", reconciledMs: 1_000 },
      reports: [{}],
      reason: "periodic_reconciliation",
      seconds: 30,
    },
    {
      name: "one that is old and Ready",
      cluster: { phase: "Ready", ageMs: 3 * hour, reconciledMs: 1_000 },
      reports: [{}],
      reason: "healthy_reconciliation",
      seconds: 300,
    },
    {
      name: "one that has failed",
      cluster: { phase: "Failed", ageMs: 3 * hour, reconciledMs: 1_000 },
      reports: [{ available: "False" }],
      reason: "unhealthy_reconciliation",
      seconds: 30,
    },
    {
      name: "one that is on its way",
      cluster: { phase: "Progressing", ageMs: 3 * hour, reconciledMs: 1_000 },
      reports: [{}, { name: "network", available: "False" }],
      reason: "unhealthy_reconciliation",
      seconds: 30,
    },
    {
      name: "one with a controller behind its generation",
      cluster: { phase: "Ready", ageMs: 3 * hour, reconciledMs: 1_000 },
      reports: [{}, { name: "network", generation: 0 }],
      reason: "generation_mismatch",
      seconds: 30,
    },
  ];
  for (const { name, cluster, reports = [], reason, seconds } of cases) {
    test(`${name}: ${reason}, again in ${seconds} s`, async () => {
      await using it = await fresh();
      const id = await insertCluster(it, cluster);
      for (const one of reports) await report(it, id, one);
      const time = new TestTime();
      time.pass(31_000); // A report may have moved it to 30 s from now.
      const nowMs = time.now();
      assert.equal(await schedulerOn(it.database, { time: { now: () => nowMs } }).tick(never), 1);
      const [announced] = await announcements(it);
      assert.equal(announced?.reason, reason);
      assert.equal(announced.metadata["scheduled_by"], "keelson-scheduler");
      assert.equal(announced.metadata["cluster_generation"], 1);
      assert.equal(
        announced.metadata["last_reconciled_at"] !== null,
        reason !== "never_reconciled",
      );
      assert.equal(await waitOf(it, id, nowMs), seconds);
    });
  }

  test("a deletion is announced while somebody has to let go, and never otherwise", async () => {
    await using it = await fresh();
    const held = await insertCluster(it);
    const free = await insertCluster(it);
    await it.query(`UPDATE clusters SET deletion_timestamp = now();
      INSERT INTO finalizers (kind, resource_id, controller_name)
      SELECT 'cluster', id, 'dns' FROM clusters WHERE id = '${held}'`);
    const time = new TestTime();
    const scheduler = schedulerOn(it.database, { time });
    for (let tick = 0; tick < 3; tick++) {
      await scheduler.tick(never);
      time.pass(31_000);
    }
    const told = await announcements(it);
    assert.deepEqual(
      told.map(({ ordering_key, reason }) => [ordering_key, reason]),
      Array.from({ length: 3 }, () => [held, "deletion_pending"]),
    );
    assert.ok(free !== held);
  });

  test("what is paused is never due", async () => {
    await using it = await fresh();
    const id = await insertCluster(it);
    await it.query(`UPDATE reconciliation_schedule SET enabled = false WHERE cluster_id = $1`, [
      id,
    ]);
    assert.equal(await schedulerOn(it.database).tick(never), 0);
  });

  test("attention comes first, then whatever has been due for longest", async () => {
    await using it = await fresh();
    const ids: Record<string, string> = {};
    for (const name of ["calm-late", "calm-soon", "urgent-soon", "urgent-late"]) {
      ids[name] = await insertCluster(it, { name });
    }
    await it.query(`UPDATE reconciliation_schedule s
      SET attention = c.name LIKE 'urgent%',
          next_reconcile_at = now() - CASE WHEN c.name LIKE '%late' THEN interval '9 s' ELSE interval '1 s' END
      FROM clusters c WHERE c.id = s.cluster_id`);
    // One at a time: the order of the batches is the order of the claims.
    await schedulerOn(it.database, { batchMax: 1 }).tick(never);
    const names = (await announcements(it)).map(
      ({ ordering_key: key }) => Object.entries(ids).find(([, id]) => id === key)?.[0],
    );
    assert.deepEqual(names, ["urgent-late", "urgent-soon", "calm-late", "calm-soon"]);
  });

  test("unanswered announcements grow rare, and an answer ends that", async () => {
    await using it = await fresh();
    const id = await insertCluster(it);
    const time = new TestTime();
    const scheduler = schedulerOn(it.database, { time, cadence: { ...cadence, decayAfter: 3 } });
    const waits: number[] = [];
    const announce = async (): Promise<void> => {
      const nowMs = time.now();
      assert.equal(await scheduler.tick(never), 1);
      waits.push(await waitOf(it, id, nowMs));
      time.pass((waits.at(-1) ?? 0) * 1_000 + 100);
    };
    for (let i = 0; i < 8; i++) await announce();
    assert.deepEqual(waits, [30, 30, 30, 60, 120, 240, 300, 300]);
    await report(it, id, { available: "False" });
    waits.length = 0;
    await announce();
    assert.deepEqual(waits, [30]);
    // Now it is expected, and its silence counts again; a report of the same controller, still not Available, answers.
    for (let i = 0; i < 4; i++) await announce();
    assert.ok((waits.at(-1) ?? 0) > 30);
    await report(it, id, { available: "False" });
    await announce();
    assert.equal(waits.at(-1), 30);
  });

  test("reports of those who are not waited for answer nothing", async () => {
    await using it = await fresh();
    const id = await insertCluster(it, { phase: "Progressing", ageMs: 3 * hour });
    await report(it, id, { name: "fine" });
    await report(it, id, { name: "slow", available: "False" });
    const time = new TestTime();
    const scheduler = schedulerOn(it.database, { time, cadence: { ...cadence, decayAfter: 2 } });
    for (let i = 0; i < 4; i++) {
      await scheduler.tick(never);
      await report(it, id, { name: "fine" });
      time.pass(10 * minute);
    }
    const nowMs = time.now();
    await scheduler.tick(never);
    assert.equal(await waitOf(it, id, nowMs), 240);
  });

  test("what waits for nobody does not count its announcements", async () => {
    await using it = await fresh();
    const id = await insertCluster(it, { phase: "Ready", reconciledMs: 0 });
    await report(it, id);
    const time = new TestTime();
    const scheduler = schedulerOn(it.database, { time, cadence: { ...cadence, decayAfter: 2 } });
    for (let i = 0; i < 6; i++) {
      time.pass(31_000);
      const nowMs = time.now();
      assert.equal(await scheduler.tick(never), 1);
      assert.equal(await waitOf(it, id, nowMs), 30);
    }
  });

  test("nodepools are announced alike, with their cluster's platform; under a deleting cluster only their own deletion is", async () => {
    await using it = await fresh();
    const id = await insertCluster(it);
    await it.query(
      `INSERT INTO nodepools (cluster_id, name, created_by) VALUES ($1, 'np', 'alice@example.com')`,
      [id],
    );
    const time = new TestTime();
    const scheduler = schedulerOn(it.database, { time });
    await scheduler.tick(never);
    const told = await it.query<{ type: string; platform: string }>(
      `SELECT data ->> 'type' AS type, data ->> 'platform' AS platform FROM outbox_unnumbered ORDER BY id`,
    );
    assert.deepEqual(
      told.map(({ type, platform }) => [type, platform]),
      [
        ["cluster.reconcile", "gcp"],
        ["nodepool.reconcile", "gcp"],
      ],
    );
    await it.query(`UPDATE clusters SET deletion_timestamp = now()`);
    time.pass(31_000);
    assert.equal(await scheduler.tick(never), 0);
  });

  test("three replicas announce each of a thousand once, and a locked one is skipped, not waited for", async () => {
    await using it = await fresh();
    await insertMany(it, 1_000);
    const [locked] = await it.query<{ id: string }>(`SELECT id FROM clusters LIMIT 1`);
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const writer = it.openAnother().transaction(async (sql) => {
      await sql.run(lockCluster, locked?.id ?? "");
      held.resolve();
      await release.promise;
    }, never);
    await held.promise;
    const schedulers = [it.database, it.openAnother(), it.openAnother()].map((database) =>
      schedulerOn(database, { batchMax: 50 }),
    );
    const counts = await Promise.all(schedulers.map((scheduler) => scheduler.tick(never)));
    release.resolve();
    await writer;
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      999,
    );
    assert.equal(await schedulers[0]?.tick(never), 1);
    await assertEachOnce(it, 1_000);
  });

  test("a scheduler killed in the middle loses none and repeats none", async () => {
    await using it = await fresh();
    await insertMany(it, 600);
    const program = new URL("./scheduler-process.ts", import.meta.url);
    const child = spawn(process.execPath, [program.pathname, it.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    // It tells of each batch, and is killed while it is busy with the next.
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await exited;
    // The database does not notice at once: the statement under way runs to its end.
    await until(async () => {
      const busy = await it.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`);
      return busy.length === 0;
    }, never);
    const before = (await announcements(it)).length;
    assert.ok(before > 0 && before < 600, `${before} of 600 were announced before the kill`);
    assert.equal(await schedulerOn(it.database).tick(never), 600 - before);
    await assertEachOnce(it, 600);
  });

  test("five thousand stable ones are looked for by their index, and nothing due is found at once", async () => {
    await using it = await fresh();
    await insertMany(it, 5_000);
    await it.query(`UPDATE reconciliation_schedule SET attention = false,
      next_reconcile_at = now() + interval '4 min'`);
    await it.query(`ANALYZE`);
    assert.equal(await schedulerOn(it.database).tick(never), 0);
    const before = await indexReads(it);
    assert.equal(await schedulerOn(it.database).tick(never), 0);
    const after = await indexReads(it);
    assert.equal(after.tableScans, before.tableScans, "the table was walked");
    const time = new TestTime();
    time.pass(5 * minute);
    assert.equal(await schedulerOn(it.database, { time }).tick(never), 5_000);
    await assertEachOnce(it, 5_000);
  });
});

const lockCluster = statement<string>(
  "lockCluster",
  (sql, id) => sql`SELECT FROM clusters WHERE id = ${id} FOR UPDATE`,
);

async function insertMany(tables: ClustersDatabase, count: number): Promise<void> {
  await tables.query(
    `INSERT INTO clusters (name, created_by, spec, status, status_dirty)
     SELECT 'c' || n, 'alice@example.com', '{"platform": {"type": "gcp"}}',
            '{"phase": "Pending", "observedGeneration": 1}', false
     FROM generate_series(1, $1::integer) n`,
    [count],
  );
}

async function assertEachOnce(it: ClustersDatabase, count: number): Promise<void> {
  const keys = (await announcements(it)).map(({ ordering_key }) => ordering_key);
  assert.deepEqual([keys.length, new Set(keys).size], [count, count]);
}

async function indexReads(tables: ClustersDatabase): Promise<{ tableScans: number }> {
  await tables.query(`SELECT pg_stat_force_next_flush()`);
  const [row] = await tables.query<{ scans: string }>(
    `SELECT seq_scan AS scans FROM pg_stat_user_tables WHERE relname = 'reconciliation_schedule'`,
  );
  return { tableScans: Number(row?.scans) };
}
