// The tables by themselves: what a person with SQL can do to them, and what they then say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { testIdentity } from "@keelson/base/testing";
import { Outbox, UniqueViolation, Wakeups } from "@keelson/database";
import { eachPostgres } from "@keelson/database/testing";
import { appendEvents, type NewEvent } from "./sql/events.ts";
import { createClustersDatabase, type ClustersDatabase } from "./testing/clusters-database.ts";

const never = new AbortController().signal;
const cluster = "00000000-0000-4000-8000-000000000001";
const nodepool = "00000000-0000-4000-8000-000000000002";

/** A cluster on gcp with one nodepool, both clean. */
async function seed(it: ClustersDatabase): Promise<void> {
  await it.query(`
    INSERT INTO clusters (id, name, created_by, spec)
    VALUES ('${cluster}', 'one', 'alice@example.com', '{"platform":{"type":"GCP"}}');
    INSERT INTO nodepools (id, cluster_id, name, created_by)
    VALUES ('${nodepool}', '${cluster}', 'pool', 'alice@example.com');
    UPDATE clusters SET status_dirty = false;
    UPDATE nodepools SET status_dirty = false;
    UPDATE reconciliation_schedule SET next_reconcile_at = now() + interval '1 h', attention = false;
    UPDATE nodepool_reconciliation_schedule SET next_reconcile_at = now() + interval '1 h';`);
}

async function numbers(it: ClustersDatabase, table: "clusters" | "nodepools") {
  const [row] = await it.query<{
    generation: string;
    status_revision: string;
    status_dirty: boolean;
  }>(`SELECT generation, status_revision, status_dirty FROM ${table}`);
  return [Number(row?.generation), Number(row?.status_revision), row?.status_dirty];
}

eachPostgres("lifecycle's tables", (server) => {
  const fresh = async () => {
    const it = await createClustersDatabase(await server());
    await seed(it);
    return it;
  };

  test("what a user asks for raises the generation, and a write of the cached status does not", async () => {
    await using it = await fresh();
    const [before] = await it.query(`SELECT resource_version, updated_at FROM clusters`);
    await it.query(`UPDATE clusters SET status = '{"phase":"Ready"}', status_dirty = false`);
    assert.deepEqual(await numbers(it, "clusters"), [1, 0, false]);
    assert.deepEqual(
      (await it.query(`SELECT resource_version, updated_at FROM clusters`))[0],
      before,
    );
    const changes = [
      `spec = '{"platform":{"type":"gcp"},"x":1}'`,
      `target_project_id = 'project'`,
      `deletion_timestamp = now()`,
    ];
    for (const [index, change] of changes.entries()) {
      await it.query(`UPDATE clusters SET ${change}`);
      assert.deepEqual(await numbers(it, "clusters"), [index + 2, index + 1, true]);
    }
    const [after] = await it.query(`
      SELECT resource_version <> '${String(before?.["resource_version"])}' AS is_new, clusters.updated_at > clusters.created_at AS moved,
        next_reconcile_at <= clock_timestamp() AS is_due, attention
      FROM clusters JOIN reconciliation_schedule ON cluster_id = id`);
    assert.deepEqual(after, { is_new: true, moved: true, is_due: true, attention: true });
    // The same by value is no change.
    await it.query(`UPDATE clusters SET spec = '{"x":1.0,"platform":{"type":"gcp"}}'`);
    assert.deepEqual((await numbers(it, "clusters"))[0], 4);
  });

  test("a report makes its own resource dirty, and one that says something new brings it nearer", async () => {
    await using it = await fresh();
    const due = async () => {
      const [row] = await it.query(`
        SELECT c.next_reconcile_at < now() + interval '31 s' AS cluster,
               n.next_reconcile_at < now() + interval '31 s' AS nodepool
        FROM reconciliation_schedule c, nodepool_reconciliation_schedule n`);
      return row;
    };
    await it.query(
      `INSERT INTO nodepool_controller_status (nodepool_id, controller_name) VALUES ('${nodepool}', 'dns')`,
    );
    assert.deepEqual(await numbers(it, "nodepools"), [1, 1, true]);
    assert.deepEqual(await numbers(it, "clusters"), [1, 0, false]);
    assert.deepEqual(await due(), { cluster: false, nodepool: true });
    await it.query(
      `INSERT INTO controller_status (cluster_id, controller_name) VALUES ('${cluster}', 'dns')`,
    );
    assert.deepEqual(await due(), { cluster: true, nodepool: true });
    await it.query(`UPDATE reconciliation_schedule SET next_reconcile_at = now() + interval '1 h'`);
    await it.query(`UPDATE controller_status SET updated_at = clock_timestamp()`);
    assert.deepEqual(await numbers(it, "clusters"), [1, 2, true]);
    assert.deepEqual(await due(), { cluster: false, nodepool: true });
  });

  test("a change of the registry makes dirty whom it concerns", async () => {
    await using it = await fresh();
    const steps: readonly (readonly [string, readonly [number, number]])[] = [
      [
        `INSERT INTO controllers (name, kinds, platforms) VALUES ('dns', '{cluster}', '{aws}')`,
        [0, 0],
      ],
      [`UPDATE controllers SET platforms = '{gcp}'`, [1, 0]],
      [`UPDATE controllers SET finalizer = true`, [1, 0]],
      [`UPDATE controllers SET kinds = '{cluster,nodepool}', platforms = '{}'`, [2, 1]],
      [`UPDATE controllers SET retired_at = now()`, [3, 2]],
      [`DELETE FROM controllers`, [4, 3]],
      // Without a platform of its own a nodepool has the cluster's.
      [`UPDATE clusters SET spec = '{"platform":{"type":"aws"}}'`, [5, 4]],
    ];
    for (const [text, expected] of steps) {
      await it.query(text);
      const revisions = [(await numbers(it, "clusters"))[1], (await numbers(it, "nodepools"))[1]];
      assert.deepEqual(revisions, expected, text);
    }
  });

  test("no result depends on the time zone of whoever writes", async () => {
    await using it = await fresh();
    const written: Record<string, unknown>[] = [];
    for (const zone of ["UTC", "Asia/Kathmandu"]) {
      const [row] = await it.query<{ said: string; schedule: boolean; moved: boolean }>(`
        SET LOCAL TimeZone = '${zone}';
        UPDATE clusters SET spec = spec || '{"zone": "${zone}"}';
        SELECT event_data(gen_random_uuid(), 'cluster.updated', id, NULL, generation, 'gcp', 'spec_change',
                          created_by, NULL, NULL) ->> 'timestamp' AS said,
               next_reconcile_at BETWEEN now() - interval '1 min' AND clock_timestamp() AS schedule,
               generation_changed_at BETWEEN now() AND clock_timestamp() AS moved
        FROM clusters JOIN reconciliation_schedule ON cluster_id = id`);
      const [now] = await it.query<{ now_ms: number }>(
        `SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms`,
      );
      const offMs = Math.abs(Date.parse(row?.said ?? "") - (now?.now_ms ?? 0));
      written.push({ isNow: offMs < 600_000, schedule: row?.schedule, moved: row?.moved });
    }
    const right = { isNow: true, schedule: true, moved: true };
    assert.deepEqual(written, [right, right]);
  });

  test("live names are unique per owner, or per cluster; those of tombstones are free", async () => {
    await using it = await fresh();
    const again = () =>
      it.query(`INSERT INTO clusters (name, created_by) VALUES ('one', 'alice@example.com')`);
    await assert.rejects(again(), UniqueViolation);
    await it.query(`INSERT INTO clusters (name, created_by) VALUES ('one', 'bob@example.com')`);
    await it.query(`UPDATE clusters SET deleted_at = now() WHERE created_by = 'alice@example.com'`);
    await again();
  });

  test("events have every field in data and attributes, and become history where they get their position", async () => {
    await using it = await fresh();
    const outbox = new Outbox({
      database: it.database,
      wakeups: new Wakeups({ database: it.database }),
      name: "lifecycle.outbox",
    });
    const event: NewEvent = {
      eventId: "00000000-0000-4000-8000-00000000000a",
      type: "nodepool.reconcile",
      clusterId: cluster,
      nodepoolId: nodepool,
      generation: 7,
      platform: "GCP",
      reason: "controller_status_change",
      createdBy: "alice@example.com",
      caller: testIdentity({
        user: "ctl@example.com",
        roles: ["controller", "x"],
        organizationId: "org",
      }),
      metadata: { controller_name: "dns" },
    };
    const scheduled: NewEvent = {
      ...event,
      eventId: "00000000-0000-4000-8000-00000000000b",
      type: "cluster.reconcile",
      nodepoolId: null,
      reason: "never_reconciled",
      caller: null,
      metadata: { scheduled_by: "replica", last_reconciled_at: null },
    };
    const silent: NewEvent = {
      ...scheduled,
      eventId: "00000000-0000-4000-8000-00000000000c",
      type: "status.changed",
      metadata: { from: "Pending", to: "Ready" },
    };
    await it.database.run(appendEvents, [event, scheduled, silent], never);
    await outbox.numberAll(never);
    const rows = await it.query<{
      position: string;
      topic: string | null;
      ordering_key: string;
      data: Record<string, unknown>;
      attributes: Record<string, unknown>;
      published: boolean;
    }>(
      `SELECT position, topic, ordering_key, data, attributes, published_at IS NOT NULL AS published
       FROM outbox ORDER BY position`,
    );
    const { timestamp, ...data } = rows[0]?.data ?? {};
    assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(data, {
      id: event.eventId,
      type: "nodepool.reconcile",
      event_type: "nodepool.reconcile",
      cluster_id: cluster,
      nodepool_id: nodepool,
      generation: 7,
      platform: "gcp",
      reason: "controller_status_change",
      source: "cls-backend",
      created_by: "alice@example.com",
      user: {
        email: "ctl@example.com",
        domain: "example.com",
        roles: ["controller", "x"],
        organization_id: "org",
      },
      metadata: { controller_name: "dns" },
    });
    assert.deepEqual(rows[0]?.attributes, {
      event_id: event.eventId,
      type: "nodepool.reconcile",
      event_type: "nodepool.reconcile",
      cluster_id: cluster,
      nodepool_id: nodepool,
      generation: "7",
      platform: "gcp",
      reason: "controller_status_change",
      timestamp,
      source: "cls-backend",
      created_by: "alice@example.com",
      user_email: "ctl@example.com",
      user_domain: "example.com",
      user_roles: "controller,x",
      controller_name: "dns",
    });
    assert.deepEqual(
      rows.map(({ topic, ordering_key, published }) => [topic, ordering_key, published]),
      [
        ["nodepool-events", nodepool, false],
        ["cluster-events", cluster, false],
        [null, cluster, true],
      ],
    );
    assert.deepEqual(rows[1]?.data["user"], {
      email: "alice@example.com",
      domain: "example.com",
      roles: [],
    });
    // A person with SQL may write anything: it holds up nobody.
    await it.query(`INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data)
      SELECT gen_random_uuid(), 'cluster-events', 'no id', d::jsonb FROM unnest(ARRAY['{}', '7', '{"type":"x"}']) d`);
    await outbox.numberAll(never);
    assert.deepEqual(
      await it.query(
        `SELECT position::integer, actor, action FROM audit WHERE resource_id IS NULL ORDER BY position`,
      ),
      [
        { position: 4, actor: "unknown", action: "unknown" },
        { position: 5, actor: "unknown", action: "unknown" },
        { position: 6, actor: "unknown", action: "x" },
      ],
    );
    assert.deepEqual(
      await it.query(
        `SELECT position::integer, actor, action, kind, resource_id, data ->> 'id' AS id FROM audit
         WHERE resource_id IS NOT NULL ORDER BY id`,
      ),
      [
        {
          position: 1,
          actor: "ctl@example.com",
          action: "nodepool.reconcile",
          kind: "nodepool",
          resource_id: nodepool,
          id: event.eventId,
        },
        {
          position: 3,
          actor: "alice@example.com",
          action: "status.changed",
          kind: "cluster",
          resource_id: cluster,
          id: silent.eventId,
        },
      ],
    );
  });
});
