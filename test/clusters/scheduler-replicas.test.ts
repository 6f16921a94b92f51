// Announcements of many clusters by several schedulers: each once, also when one of them is killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import type { ClustersDatabase } from "@keelson/clusters/testing";
import { statement } from "@keelson/database";
import { until } from "../tools/until.ts";
import { freshDatabase, never } from "./events-bed.ts";
import { announcements, schedulerOn } from "./scheduler-bed.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

/** How many there are in the largest test; `KEELSON_TEST_CLUSTERS=20000` is the contract's number. */
const stableCount = Number(process.env["KEELSON_TEST_CLUSTERS"] ?? 5_000);

suite("schedulers and many clusters", () => {
  test("three replicas announce each of a thousand once, and a locked one is skipped, not waited for", async () => {
    await using it = await freshDatabase();
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
    await using it = await freshDatabase();
    await insertMany(it, 600);
    const program = new URL("./scheduler-process.ts", import.meta.url);
    const child = endsWithUs(
      spawn(process.execPath, [program.pathname, it.url], {
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
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

  test(`39: of ${stableCount} stable ones each is announced once in five minutes, attention first, by the index alone`, async () => {
    await using it = await freshDatabase();
    let nowMs = systemClock.now();
    await insertStable(it, { count: stableCount, urgent: 50, nowMs });
    const scheduler = schedulerOn(it.database, { time: { now: () => nowMs } });
    assert.equal(await scheduler.tick(never), 0, "nothing is due");
    const before = await tableScans(it);
    assert.equal(await scheduler.tick(never), 0);
    assert.equal(await tableScans(it), before, "the table was walked");

    const counts: number[] = [];
    for (let tick = 0; tick < 10; tick++) {
      nowMs += 30_000;
      counts.push(await scheduler.tick(never));
    }
    assert.deepEqual(
      counts,
      Array.from({ length: 10 }, () => stableCount / 10),
    );
    await assertEachOnce(it, stableCount);
    // Those that were marked came last, and before the others of their tick.
    const marked = new Set(
      (await it.query<{ id: string }>(`SELECT id FROM clusters WHERE name LIKE 'urgent%'`)).map(
        ({ id }) => id,
      ),
    );
    const last = (await announcements(it)).slice(-stableCount / 10);
    assert.deepEqual(
      last.map(({ ordering_key: key }) => marked.has(key)),
      last.map((_, place) => place < marked.size),
    );
    assert.ok(last.every(({ reason }) => reason === "healthy_reconciliation"));
    const [next] = await it.query(
      `SELECT bool_and(next_reconcile_at > to_timestamp($1::float8)
                       AND next_reconcile_at <= to_timestamp($1::float8 + 300)) AS is_due_again,
              bool_or(attention) AS attention
       FROM reconciliation_schedule`,
      [nowMs / 1_000],
    );
    assert.deepEqual(next, { is_due_again: true, attention: false });
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

/** Clusters that are old and Ready, due one after the other over five minutes; the last of them need attention. */
async function insertStable(
  tables: ClustersDatabase,
  {
    count,
    urgent,
    nowMs,
  }: { readonly count: number; readonly urgent: number; readonly nowMs: number },
): Promise<void> {
  await tables.query(`ALTER TABLE controller_status DISABLE TRIGGER USER`);
  // Some at a time: on a busy machine a statement has its deadline, too.
  for (let first = 1; first <= count; first += 2_000) {
    const last = Math.min(first + 1_999, count);
    await tables.query(
      `WITH made AS (
         INSERT INTO clusters (name, created_by, spec, status, status_dirty, created_at)
         SELECT CASE WHEN n > $3::integer THEN 'urgent' ELSE 'calm' END || n, 'alice@example.com',
                '{"platform": {"type": "gcp"}}', '{"phase": "Ready", "observedGeneration": 1}', false,
                now() - interval '3 h'
         FROM generate_series($1::integer, $2::integer) n RETURNING id
       )
       INSERT INTO controller_status (cluster_id, controller_name, conditions)
       SELECT id, 'dns', '[{"type": "Available", "status": "True"}]' FROM made`,
      [first, last, count - urgent],
    );
    await tables.query(
      `UPDATE reconciliation_schedule s
       SET attention = c.name LIKE 'urgent%', last_reconciled_at = now(),
           next_reconcile_at = to_timestamp($1::float8 + 300.0 * c.n / $2::integer)
       FROM (SELECT id, name, substring(name FROM '[0-9]+')::integer AS n FROM clusters) c
       WHERE c.id = s.cluster_id AND c.n BETWEEN $3::integer AND $4::integer`,
      [nowMs / 1_000, count, first, last],
    );
  }
  await tables.query(`ANALYZE`);
}

async function assertEachOnce(it: ClustersDatabase, count: number): Promise<void> {
  const keys = (await announcements(it)).map(({ ordering_key }) => ordering_key);
  assert.deepEqual([keys.length, new Set(keys).size], [count, count]);
}

/** How often the schedule was read without an index. */
async function tableScans(tables: ClustersDatabase): Promise<number> {
  await tables.query(`SELECT pg_stat_force_next_flush()`);
  const [row] = await tables.query<{ scans: string }>(
    `SELECT seq_scan AS scans FROM pg_stat_user_tables WHERE relname = 'reconciliation_schedule'`,
  );
  return Number(row?.scans);
}
