// Announcements: when, why, and ever more seldom where nobody answers.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { freshDatabase, never } from "./events-bed.ts";
import {
  announcements,
  cadence,
  hour,
  insertCluster,
  minute,
  report,
  schedulerOn,
  TestTime,
  waitOf,
  type Cluster,
} from "./scheduler-bed.ts";

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
      await using it = await freshDatabase();
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
    await using it = await freshDatabase();
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
      told.map(({ ordering_key, reason, metadata }) => [
        ordering_key,
        reason,
        metadata["finalizers"],
      ]),
      Array.from({ length: 3 }, () => [held, "deletion_pending", ["dns"]]),
    );
    const [unannounced] = await it.query(
      `SELECT last_reconciled_at FROM reconciliation_schedule WHERE cluster_id = $1`,
      [free],
    );
    assert.deepEqual(unannounced, { last_reconciled_at: null });
  });

  test("who has retired, is of another platform or has nothing to do with it is not waited for; who is registered is", async () => {
    await using it = await freshDatabase();
    const id = await insertCluster(it, { phase: "Ready", ageMs: 3 * hour, reconciledMs: 1_000 });
    await report(it, id);
    await report(it, id, { name: "retired", generation: 0 });
    await it.query(
      `INSERT INTO controller_status (cluster_id, controller_name, conditions)
       VALUES ($1, 'elsewhere', '[{"type": "Applied", "status": "False", "reason": "NotApplicable"}]')`,
      [id],
    );
    await it.query(`INSERT INTO controllers (name, kinds, platforms, retired_at)
      VALUES ('retired', '{cluster}', '{}', now()), ('aws', '{cluster}', '{aws}', NULL),
             ('pools', '{nodepool}', '{}', NULL)`);
    let nowMs = new TestTime().now();
    const announced = async () => {
      nowMs += 6 * minute;
      await it.query(`UPDATE clusters SET status_dirty = false`);
      assert.equal(await schedulerOn(it.database, { time: { now: () => nowMs } }).tick(never), 1);
      const [row] = await it.query(`SELECT unanswered FROM reconciliation_schedule`);
      return [(await announcements(it)).at(-1)?.reason, row?.["unanswered"]];
    };
    assert.deepEqual(await announced(), ["healthy_reconciliation", 0]);
    await it.query(`INSERT INTO controllers (name, kinds) VALUES ('new', '{cluster}')`);
    assert.deepEqual(await announced(), ["generation_mismatch", 1]);
  });

  test("statuses are brought up to date before anything is decided on them", async () => {
    await using it = await freshDatabase();
    const id = await insertCluster(it, { phase: "Failed", ageMs: 3 * hour, reconciledMs: 1_000 });
    await report(it, id);
    const nowMs = new TestTime().now() + 31_000;
    const scheduler = schedulerOn(it.database, {
      time: { now: () => nowMs },
      refreshStatuses: async () => {
        await it.query(
          `UPDATE clusters SET status = '{"phase": "Ready", "observedGeneration": 1}'`,
        );
      },
    });
    assert.equal(await scheduler.tick(never), 1);
    assert.equal((await announcements(it))[0]?.reason, "healthy_reconciliation");
    assert.equal(await waitOf(it, id, nowMs), 300);
  });

  test("a status that has changed since the pass is looked at again soon", async () => {
    await using it = await freshDatabase();
    const id = await insertCluster(it, { phase: "Ready", ageMs: 3 * hour, reconciledMs: 1_000 });
    await report(it, id);
    await it.query(`UPDATE controller_status SET conditions = '[]'`);
    const time = new TestTime();
    time.pass(31_000);
    const nowMs = time.now();
    assert.equal(await schedulerOn(it.database, { time: { now: () => nowMs } }).tick(never), 1);
    assert.equal(await waitOf(it, id, nowMs), 30);
  });

  test("what is paused is never due", async () => {
    await using it = await freshDatabase();
    const id = await insertCluster(it);
    await it.query(`UPDATE reconciliation_schedule SET enabled = false WHERE cluster_id = $1`, [
      id,
    ]);
    assert.equal(await schedulerOn(it.database).tick(never), 0);
  });

  test("attention comes first, then whatever has been due for longest", async () => {
    await using it = await freshDatabase();
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
    await using it = await freshDatabase();
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

    const tireless = schedulerOn(it.database, { time, cadence: { ...cadence, decayAfter: 0 } });
    for (let i = 0; i < 3; i++) {
      const nowMs = time.now();
      assert.equal(await tireless.tick(never), 1);
      assert.equal(await waitOf(it, id, nowMs), 30);
      time.pass(30_100);
    }
  });

  test("reports of those who are not waited for answer nothing", async () => {
    await using it = await freshDatabase();
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
    await using it = await freshDatabase();
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
    await using it = await freshDatabase();
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
});
