// The tables by themselves: what a person with SQL can do to them, and what they then say.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { join } from "node:path";
import { CheckViolation, UniqueViolation } from "@keelson/database";
import { eachPostgres } from "@keelson/database/testing";
import { groupOf, kindsWithoutVersion, usualVersionOf } from "./resources/kinds.ts";
import { createFleetDatabase, type FleetDatabase } from "./testing/fleet-database.ts";

const run = promisify(execFile);

const deployment = {
  cluster_id: "prod",
  namespace: "default",
  kind: "Deployment",
  name: "web",
  api_version: "apps/v1",
  desired_spec: { spec: { replicas: 1 } },
};

async function insert(it: FleetDatabase, changes: object = {}): Promise<number> {
  const row: Record<string, unknown> = { ...deployment, ...changes };
  const columns = Object.keys(row);
  const [made] = await it.query<{ id: number }>(
    `INSERT INTO resources (${columns.join(", ")})
     VALUES (${columns.map((_, index) => `$${index + 1}`).join(", ")}) RETURNING id`,
    columns.map((column) => row[column]),
  );
  assert.ok(made !== undefined);
  return made.id;
}

const numbers = async (it: FleetDatabase, id: number) =>
  (await it.query(`SELECT generation, revision FROM resources WHERE id = $1`, [id]))[0];

const statusOf = async (it: FleetDatabase, id: number) =>
  (await it.query(`SELECT status, health FROM resource_statuses WHERE resource_id = $1`, [id]))[0];

const events = async (it: FleetDatabase) =>
  (
    await it.query<{ type: string; actor: string; data: Record<string, unknown> }>(
      `SELECT type, actor, data FROM events_unnumbered ORDER BY id`,
    )
  ).map(({ type, data }) => [type, data["generation"], data["status"]]);

eachPostgres("fleet's tables", (server) => {
  const fresh = async () => createFleetDatabase(await server());

  test("a new row begins at generation 1 whatever it says, in UTC whatever the session's zone", async () => {
    await using it = await fresh();
    const [row] = await it.query(`
      SET LOCAL timezone = 'Pacific/Auckland';
      INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec, generation, created_at)
      VALUES ('prod', '', 'Namespace', 'team', 'v1', '{}', 7, '2001-01-01')
      RETURNING generation, revision, api_group, paused, conflict_policy, drift_policy, immutable_policy,
        propagation, abs(extract(epoch FROM created_at - (now() AT TIME ZONE 'UTC'))) < 5 AS is_now`);
    assert.deepEqual(row, {
      generation: 1,
      revision: 1,
      api_group: "",
      paused: false,
      conflict_policy: "force",
      drift_policy: "heal",
      immutable_policy: "report",
      propagation: "background",
      is_now: true,
    });
  });

  test("a row without a version gets the one that a request would, and its key with it", async () => {
    await using it = await fresh();
    for (const kind of kindsWithoutVersion) await insert(it, { kind, api_version: null });
    await insert(it, { kind: "Widget", api_version: null });
    const rows = await it.query<{ kind: string; api_version: string; api_group: string }>(
      `SELECT kind, api_version, api_group FROM resources ORDER BY id`,
    );
    assert.deepEqual(
      rows.map(({ kind, api_version, api_group }) => [kind, api_version, api_group]),
      [...kindsWithoutVersion, "Widget"].map((kind) => {
        const version = usualVersionOf(kind);
        return [kind, version ?? null, groupOf(version ?? "")];
      }),
    );
    await assert.rejects(insert(it, { api_version: "apps/v1beta1" }), UniqueViolation);
  });

  test("a change raises the generation, and a new spec the revision unless it is given", async () => {
    await using it = await fresh();
    const id = await insert(it);
    const steps: readonly (readonly [string, { generation: number; revision: number }])[] = [
      [`desired_spec = '{"spec":{"replicas":2}}'`, { generation: 2, revision: 2 }],
      // The same by value: nothing has changed.
      [`desired_spec = '{"spec":{"replicas":2.0}}'`, { generation: 2, revision: 2 }],
      [`generation = 99`, { generation: 2, revision: 2 }],
      [`desired_spec = '{"spec":{"replicas":1}}', revision = 1`, { generation: 3, revision: 1 }],
      [`api_version = 'apps/v1beta1'`, { generation: 4, revision: 1 }],
      [`paused = true`, { generation: 4, revision: 1 }],
      [`deleted_at = now()`, { generation: 5, revision: 1 }],
      [`deleted_at = now() + interval '1 h'`, { generation: 5, revision: 1 }],
    ];
    for (const [change, expected] of steps) {
      await it.query(`UPDATE resources SET ${change} WHERE id = $1`, [id]);
      assert.deepEqual(await numbers(it, id), expected, change);
    }
  });

  test("a revision that is given stays as it is, also beside a new spec", async () => {
    await using it = await fresh();
    const id = await insert(it);
    await it.query(`
      SET LOCAL fleet.keeps_revision = 'on';
      UPDATE resources SET desired_spec = '{"spec":{"replicas":3}}', revision = 1 WHERE id = ${id}`);
    assert.deepEqual(await numbers(it, id), { generation: 2, revision: 1 });
  });

  test("every live generation stands in the history, with who made it", async () => {
    await using it = await fresh();
    const id = await insert(it);
    await it.query(`
      SET LOCAL fleet.actor = 'ann';
      SET LOCAL fleet.change_set = '7a1c8a60-0000-4000-8000-000000000001';
      UPDATE resources SET desired_spec = '{"spec":{"replicas":2}}' WHERE id = ${id}`);
    await it.query(`UPDATE resources SET paused = true WHERE id = $1`, [id]);
    await it.query(`UPDATE resources SET deleted_at = now() WHERE id = $1`, [id]);
    assert.deepEqual(
      await it.query(
        `SELECT generation, revision, api_version, desired_spec, actor, change_set
         FROM resource_revisions WHERE resource_id = $1 ORDER BY generation`,
        [id],
      ),
      [
        {
          generation: 1,
          revision: 1,
          api_version: "apps/v1",
          desired_spec: { spec: { replicas: 1 } },
          actor: "sql:keelson",
          change_set: null,
        },
        {
          generation: 2,
          revision: 2,
          api_version: "apps/v1",
          desired_spec: { spec: { replicas: 2 } },
          actor: "ann",
          change_set: "7a1c8a60-0000-4000-8000-000000000001",
        },
      ],
    );
  });

  test("what changes is due, what does not is not, and a pause takes it out of the queue", async () => {
    await using it = await fresh();
    const id = await insert(it);
    const attempts = async () =>
      (
        await it.query(
          `SELECT due_at IS NOT NULL AS is_due, requests::integer, attempts FROM resource_attempts
           WHERE resource_id = $1`,
          [id],
        )
      )[0];
    const done = () =>
      it.query(`UPDATE resource_attempts SET due_at = NULL, attempts = 3 WHERE resource_id = $1`, [
        id,
      ]);
    assert.deepEqual(await attempts(), { is_due: true, requests: 1, attempts: 0 });
    await done();
    await it.query(`UPDATE resources SET desired_spec = desired_spec WHERE id = $1`, [id]);
    assert.deepEqual(await attempts(), { is_due: false, requests: 1, attempts: 3 });
    await it.query(`UPDATE resources SET conflict_policy = 'report' WHERE id = $1`, [id]);
    assert.deepEqual(await attempts(), { is_due: true, requests: 2, attempts: 3 });
    await it.query(`UPDATE resources SET paused = true WHERE id = $1`, [id]);
    assert.deepEqual(await attempts(), { is_due: false, requests: 3, attempts: 3 });
    await it.query(`UPDATE resources SET desired_spec = '{}' WHERE id = $1`, [id]);
    assert.deepEqual(await attempts(), { is_due: false, requests: 4, attempts: 0 });
    await it.query(`UPDATE resources SET paused = false WHERE id = $1`, [id]);
    assert.deepEqual(await attempts(), { is_due: true, requests: 5, attempts: 0 });
  });

  test("an event commits with each change, and says nothing of the spec", async () => {
    await using it = await fresh();
    const id = await insert(it);
    await it.query(`UPDATE resources SET desired_spec = '{"a":1}' WHERE id = $1`, [id]);
    await it.query(`UPDATE resources SET desired_spec = '{"a":1}' WHERE id = $1`, [id]);
    await it.query(`UPDATE resources SET deleted_at = now() WHERE id = $1`, [id]);
    await it.query(`DELETE FROM resources WHERE id = $1`, [id]);
    assert.deepEqual(await events(it), [
      ["resource.created", 1, "pending"],
      ["resource.updated", 2, "pending"],
      ["resource.deleting", 3, "deleting"],
      ["resource.deleted", 3, "deleted"],
    ]);
    const [last] = await it.query(`SELECT data FROM events_unnumbered ORDER BY id DESC LIMIT 1`);
    assert.deepEqual(last, {
      data: {
        namespace: "default",
        api_version: "apps/v1",
        kind: "Deployment",
        name: "web",
        generation: 3,
        revision: 2,
        status: "deleted",
        health: "Unknown",
        reason: "Forgotten",
      },
    });
    const left = await it.query(
      `SELECT (SELECT count(*) FROM resource_attempts) + (SELECT count(*) FROM resource_revisions) AS rows`,
    );
    assert.deepEqual(left, [{ rows: "0" }]);
  });

  test("one live row for a key; another may be written while the last is deleting", async () => {
    await using it = await fresh();
    const first = await insert(it);
    await assert.rejects(insert(it, { api_version: "apps/v1beta1" }), UniqueViolation);
    await insert(it, { api_version: "extensions/v1beta1" }); // Another group, another object.
    await it.query(`UPDATE resources SET deleted_at = now() WHERE id = $1`, [first]);
    await insert(it);
  });

  test("what a row is about never changes, and its spec is an object", async () => {
    await using it = await fresh();
    const id = await insert(it);
    for (const change of [
      `cluster_id = 'other'`,
      `namespace = 'other'`,
      `name = 'other'`,
      `kind = 'StatefulSet'`,
      `api_version = 'extensions/v1beta1'`,
      `api_version = NULL`,
      `desired_spec = '[]'`,
      `desired_spec = 'null'`,
      `revision = 0`,
      `drift_policy = 'ignore'`,
    ]) {
      await assert.rejects(
        it.query(`UPDATE resources SET ${change} WHERE id = $1`, [id]),
        CheckViolation,
        change,
      );
    }
    assert.deepEqual(await numbers(it, id), { generation: 1, revision: 1 });
  });

  test("the first status that holds is told, and health beside it", async () => {
    await using it = await fresh();
    const id = await insert(it);
    await it.query(
      `INSERT INTO targets (cluster_id, in_process, health) VALUES ('prod', true, 'Healthy')`,
    );
    const steps: readonly (readonly [string, string, string])[] = [
      [`SELECT`, "pending", "Unknown"],
      [
        `INSERT INTO resource_applied_states (resource_id, spec, generation, revision, status, uid)
         VALUES (${id}, '{}', 1, 1, 'success', 'u1')`,
        "pending-applied",
        "Unknown",
      ],
      [
        `INSERT INTO resource_current_states (resource_id, spec, generation, revision, uid, observed_at, health)
         VALUES (${id}, '{}', 1, 1, 'u1', now(), 'Progressing')`,
        "synced",
        "Progressing",
      ],
      [`UPDATE targets SET health = 'Unreachable'`, "synced", "Unknown"],
      [`UPDATE targets SET health = 'Healthy'`, "synced", "Progressing"],
      [`UPDATE resource_current_states SET drifted = true`, "drifted", "Progressing"],
      [
        `UPDATE resource_current_states
         SET drifted = false, deleted_at = now(), spec = NULL, generation = NULL, revision = NULL`,
        "drifted",
        "Missing",
      ],
      // Made again by us; the cluster has not told yet.
      [`UPDATE resource_applied_states SET uid = 'u2'`, "pending-applied", "Missing"],
      [`UPDATE resources SET desired_spec = '{"a":1}'`, "out-of-sync", "Missing"],
      [
        `UPDATE resource_attempts SET failed_generation = 2, error_class = 'invalid'`,
        "error",
        "Missing",
      ],
      [`UPDATE resources SET desired_spec = '{"a":2}'`, "out-of-sync", "Missing"],
      [`UPDATE resources SET deleted_at = now()`, "deleting", "Missing"],
    ];
    for (const [change, status, health] of steps) {
      await it.query(change);
      assert.deepEqual(await statusOf(it, id), { status, health }, change);
    }
  });

  test("the contract's three questions run as they are in psql, in a session that knows nothing", async () => {
    await using it = await fresh();
    const [waiting, sent, done] = [
      await insert(it, { name: "waiting" }),
      await insert(it, { name: "sent" }),
      await insert(it, { name: "done" }),
    ];
    for (const id of [sent, done]) {
      await it.query(
        `INSERT INTO resource_applied_states (resource_id, generation, revision, status)
         VALUES ($1, 1, 1, 'success')`,
        [id],
      );
    }
    await it.query(
      `INSERT INTO resource_current_states (resource_id, generation, revision) VALUES ($1, 1, 1)`,
      [done],
    );
    const { bin } = await server();
    const ask = async (text: string): Promise<string[]> => {
      const args = ["--no-psqlrc", "--tuples-only", "--no-align", "--dbname", it.url];
      const { stdout } = await run(join(bin, "psql"), [...args, "--command", text]).catch(
        // The PostgreSQL that we ship has no psql; the machine's own client does.
        () => run("psql", [...args, "--command", text]),
      );
      return stdout.trim().split("\n");
    };
    assert.deepEqual(
      await ask(`SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
WHERE r.cluster_id = 'prod'
  AND r.generation != COALESCE(ras.generation, 0);`),
      [`${waiting}|Deployment|default|waiting`],
    );
    assert.deepEqual(
      await ask(`SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
LEFT JOIN resource_current_states rcs ON r.id = rcs.resource_id
WHERE ras.generation != COALESCE(rcs.generation, 0);`),
      [`${sent}|Deployment|default|sent`],
    );
    assert.deepEqual(
      await ask(`SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
LEFT JOIN resource_current_states rcs ON r.id = rcs.resource_id
WHERE r.generation = ras.generation
  AND ras.generation = rcs.generation;`),
      [`${done}|Deployment|default|done`],
    );
    assert.deepEqual(await ask(`SHOW timezone`), ["UTC"]);
  });
});
