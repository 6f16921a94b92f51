// Global resources by themselves: copies follow whoever changes a global resource, a target or a plain resource by SQL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@keelson/base/testing";
import { CheckViolation, statement, TransactionConflict } from "@keelson/database";
import { eachPostgres } from "@keelson/database/testing";
import { createFleetDatabase, type FleetDatabase } from "../testing/fleet-database.ts";

const target = (it: FleetDatabase, id: string, labels: object = {}) =>
  it.query(`INSERT INTO targets (cluster_id, in_process, labels) VALUES ($1, true, $2)`, [
    id,
    labels,
  ]);

async function global(it: FleetDatabase, name: string, selector?: object): Promise<number> {
  const [row] = await it.query<{ id: number }>(
    `INSERT INTO global_resources (namespace, kind, name, api_version, desired_spec, selector)
     VALUES ('default', 'ConfigMap', $1, 'v1', '{"data":{"a":"1"}}', $2) RETURNING id`,
    [name, selector ?? null],
  );
  assert.ok(row !== undefined);
  return row.id;
}

const plain = (it: FleetDatabase, cluster: string, name: string) =>
  it.query(
    `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
     VALUES ($1, 'default', 'ConfigMap', $2, 'v1', '{}')`,
    [cluster, name],
  );

/** One without a version, though its kind has a usual one: as rows from before there were such. */
const old = (it: FleetDatabase) =>
  it.query(`
    ALTER TABLE global_resources DISABLE TRIGGER generation_begins;
    INSERT INTO global_resources (namespace, kind, name, desired_spec, generation)
    VALUES ('default', 'Deployment', 'old', '{"data":{"a":"1"}}', 1);
    ALTER TABLE global_resources ENABLE TRIGGER generation_begins;
    SELECT 1`);

/** Copies as `cluster name a state`. */
const copies = async (it: FleetDatabase) =>
  (
    await it.query<{ said: string }>(`
      SELECT concat_ws(' ', r.cluster_id, r.name, r.desired_spec#>>'{data,a}', p.state) AS said
      FROM resources r JOIN global_resource_placements p ON p.resource_id = r.id
      WHERE r.global_id IS NOT NULL ORDER BY r.cluster_id, r.name, r.id`)
  ).map(({ said }) => said);

const conflicts = async (it: FleetDatabase) =>
  (
    await it.query<{ cluster_id: string }>(
      `SELECT cluster_id FROM global_resource_placements WHERE state = 'conflict' ORDER BY 1`,
    )
  ).map(({ cluster_id }) => cluster_id);

/** As if workers had begun all: nothing is purged by itself any more. */
const touch = (it: FleetDatabase) =>
  it.query(`UPDATE resource_attempts SET last_attempt_at = now()`);

const rows = async (it: FleetDatabase, table: string) =>
  (await it.query<{ rows: number }>(`SELECT count(*)::integer AS rows FROM ${table}`))[0]?.rows;

const never = new AbortController().signal;

const plainText = statement<string>("plainText", (sql, text) => sql.unsafe(text));

eachPostgres("global resources", (server) => {
  const fresh = async () => createFleetDatabase(await server());

  test("a copy has no version where its global resource has none, and is not missed for it", async () => {
    await using it = await fresh();
    await old(it);
    await target(it, "a");
    assert.deepEqual(await copies(it), ["a old 1 placed"]);
    assert.deepEqual(await it.query(`SELECT api_version, generation FROM resources`), [
      { api_version: null, generation: 1 },
    ]);
  });

  test("copies are made, changed and taken back with their global resource", async () => {
    await using it = await fresh();
    await target(it, "a");
    await target(it, "b");
    const id = await global(it, "web");
    assert.deepEqual(await copies(it), ["a web 1 placed", "b web 1 placed"]);
    await it.query(
      `UPDATE global_resources SET desired_spec = '{"data":{"a":"2"}}', paused = true`,
    );
    assert.deepEqual(
      await it.query(
        `SELECT generation, revision, paused, desired_spec#>>'{data,a}' AS a, global_id FROM resources ORDER BY id`,
      ),
      [1, 2].map(() => ({ generation: 2, revision: 2, paused: true, a: "2", global_id: id })),
    );
    // A revision that is given is kept, and so it is in the copies.
    await it.query(
      `SELECT set_config('fleet.keeps_revision', 'on', true);
       UPDATE global_resources SET desired_spec = '{"data":{"a":"3"}}', revision = 2 RETURNING id`,
    );
    assert.deepEqual(await it.query(`SELECT DISTINCT generation, revision FROM resources`), [
      { generation: 3, revision: 2 },
    ]);
    await touch(it);
    await it.query(`UPDATE global_resources SET deleted_at = now()`);
    assert.deepEqual(await copies(it), ["a web 3 leaving", "b web 3 leaving"]);
    await it.query(`DELETE FROM resources WHERE cluster_id = 'a'`); // As the worker does.
    assert.equal(await rows(it, "global_resources"), 1);
    await it.query(`DELETE FROM resources WHERE cluster_id = 'b'`);
    assert.deepEqual(
      [await rows(it, "global_resources"), await rows(it, "global_placements")],
      [0, 0],
    );
    assert.deepEqual(
      (
        await it.query(`SELECT type FROM events_unnumbered WHERE type LIKE 'global.%' ORDER BY id`)
      ).map(({ type }) => type),
      ["created", "updated", "updated", "deleting", "deleted"].map((word) => `global.${word}`),
    );
    await global(it, "web");
    assert.deepEqual(await copies(it), ["a web 1 placed", "b web 1 placed"]);
  });

  test("targets that join, are relabelled and leave get their copies, and lose them", async () => {
    await using it = await fresh();
    await global(it, "all");
    await global(it, "eu", { matchLabels: { region: "eu" } });
    await global(it, "odd", {
      matchExpressions: [
        { key: "tier", operator: "In", values: ["one", "two"] },
        { key: "region", operator: "NotIn", values: ["us"] },
        { key: "old", operator: "DoesNotExist" },
        { key: "tier", operator: "Exists" },
      ],
    });
    await target(it, "a", { region: "eu", tier: "two" });
    assert.deepEqual(await copies(it), ["a all 1 placed", "a eu 1 placed", "a odd 1 placed"]);
    await touch(it);
    await it.query(`UPDATE targets SET labels = '{"region":"us","tier":"two"}'`);
    assert.deepEqual(await copies(it), ["a all 1 placed", "a eu 1 leaving", "a odd 1 leaving"]);
    await it.query(`UPDATE targets SET labels = '{"tier":"one"}'`);
    // The old copy of its key is still being deleted; a new one waits behind it.
    assert.deepEqual(await copies(it), ["a all 1 placed", "a eu 1 leaving", "a odd 1 placed"]);
    assert.equal(await rows(it, "resources"), 4);
    await it.query(`DELETE FROM resources WHERE deleted_at IS NOT NULL`);
    assert.deepEqual(await copies(it), ["a all 1 placed", "a odd 1 placed"]);

    await touch(it);
    await it.query(`DELETE FROM targets`);
    assert.deepEqual(await copies(it), ["a all 1 leaving", "a odd 1 leaving"]);
    assert.equal(await rows(it, "targets"), 1);
    await it.query(`DELETE FROM resources WHERE name = 'all'`);
    assert.equal(await rows(it, "targets"), 1);
    await it.query(`DELETE FROM resources WHERE name = 'odd'`);
    assert.equal(await rows(it, "targets"), 0);
    // What nobody has begun need not be waited for.
    await target(it, "b", { region: "eu" });
    await it.query(`DELETE FROM targets`);
    assert.deepEqual([await rows(it, "targets"), await rows(it, "resources")], [0, 0]);
  });

  test("a target that leaves stays while there are resources of its own, and goes after the last of all", async () => {
    await using it = await fresh();
    await target(it, "a");
    await global(it, "web");
    await touch(it);
    await it.query(`DELETE FROM targets`);
    // Somebody wants more in it before it has gone.
    for (const name of ["mine", "other"]) await plain(it, "a", name);
    await it.query(`DELETE FROM resources WHERE global_id IS NOT NULL`);
    await it.query(`DELETE FROM resources WHERE name = 'other'`);
    assert.equal(await rows(it, "targets"), 1);
    await it.query(`DELETE FROM resources WHERE name = 'mine'`);
    assert.equal(await rows(it, "targets"), 0);
    // Also where the copy is the last.
    await target(it, "a");
    await touch(it);
    await plain(it, "a", "mine");
    await it.query(`DELETE FROM targets`);
    await it.query(`DELETE FROM resources WHERE name = 'mine'`);
    assert.equal(await rows(it, "targets"), 1);
    await it.query(`DELETE FROM resources`);
    assert.equal(await rows(it, "targets"), 0);
    // Of what is forgotten nothing stays.
    await target(it, "a");
    await touch(it);
    await it.query(`DELETE FROM targets`);
    await plain(it, "a", "mine");
    await it.query(`SELECT forget_target('a')`);
    assert.deepEqual([await rows(it, "targets"), await rows(it, "resources")], [0, 0]);
  });

  test("a plain resource of the key is left alone, and the copy comes when it goes", async () => {
    await using it = await fresh();
    for (const id of ["a", "b", "c"]) await target(it, id);
    for (const id of ["a", "b"]) await plain(it, id, "web");
    await global(it, "web");
    assert.deepEqual([await copies(it), await conflicts(it)], [["c web 1 placed"], ["a", "b"]]);
    await touch(it);
    await it.query(`UPDATE resources SET deleted_at = now() WHERE cluster_id = 'a'`);
    assert.deepEqual(await copies(it), ["a web 1 placed", "c web 1 placed"]);
    await it.query(`DELETE FROM resources WHERE cluster_id = 'b'`);
    assert.deepEqual(await copies(it), ["a web 1 placed", "b web 1 placed", "c web 1 placed"]);
    assert.deepEqual(await conflicts(it), []);
    // Gone again, with its global resource, before it was placed.
    await plain(it, "a", "other");
    await global(it, "other");
    await it.query(`UPDATE global_resources SET deleted_at = now() WHERE name = 'other'`);
    assert.deepEqual([await conflicts(it), await rows(it, "global_resources")], [[], 1]);
  });

  test("nobody writes a copy, and whoever forgets a global resource or a target forgets its copies", async () => {
    await using it = await fresh();
    for (const id of ["a", "b"]) await target(it, id);
    const id = await global(it, "web");
    for (const write of [
      `UPDATE resources SET paused = true`,
      `UPDATE resources SET global_id = NULL`,
      `UPDATE resources SET deleted_at = now()`,
      `DELETE FROM resources`,
      `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec, global_id)
       VALUES ('a', 'default', 'ConfigMap', 'mine', 'v1', '{}', ${id})`,
    ]) {
      await assert.rejects(it.query(write), CheckViolation, write);
    }
    await touch(it);
    await it.query(`SELECT forget_target('a')`);
    assert.deepEqual([await rows(it, "targets"), await copies(it)], [1, ["b web 1 placed"]]);
    await it.query(`DELETE FROM targets`);
    await it.query(`DELETE FROM global_resources`);
    // The target was waiting for that copy alone.
    assert.deepEqual(
      [await rows(it, "resources"), await rows(it, "global_resources"), await rows(it, "targets")],
      [0, 0, 0],
    );
  });

  test("the generation that a cluster has shown to have is told", async () => {
    await using it = await fresh();
    await target(it, "a");
    await global(it, "web");
    const synced = async () => {
      const [row] = await it.query(`SELECT synced_generation FROM global_resource_placements`);
      return row?.["synced_generation"];
    };
    assert.equal(await synced(), null);
    const shows = (generation: number) =>
      it.query(`
        INSERT INTO resource_applied_states (resource_id, generation, status)
        SELECT id, ${generation}, 'success' FROM resources
        ON CONFLICT (resource_id) DO UPDATE SET generation = excluded.generation;
        INSERT INTO resource_current_states (resource_id, generation) SELECT id, ${generation} FROM resources
        ON CONFLICT (resource_id) DO UPDATE SET generation = excluded.generation`);
    await shows(1);
    assert.equal(await synced(), 1);
    for (const a of [2, 3]) {
      await it.query(`UPDATE global_resources SET desired_spec = '{"data":{"a":"${a}"}}'`);
      assert.equal(await synced(), 1);
    }
    await shows(3);
    assert.equal(await synced(), 3);
  });

  test("what two do at once without seeing each other leaves no copy out", async () => {
    await using it = await fresh();
    await plain(it, "a", "taken");
    /** Does `first`, and `second` before the first commits: it is done then, or waits for that. */
    const interleaved = async (first: string, second: string): Promise<void> => {
      const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const one = it.database.transaction(async (sql) => {
        await sql.run(plainText, first);
        begun.resolve();
        await go.promise;
      }, never);
      await begun.promise;
      let isDone = false;
      const two = it.query(second).then(() => (isDone = true));
      await until(async () => {
        const waits = await it.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return isDone || waits.length > 0;
      });
      go.resolve();
      await Promise.all([one, two]);
    };
    const insertGlobal = (name: string) =>
      `INSERT INTO global_resources (namespace, kind, name, api_version, desired_spec)
       VALUES ('default', 'ConfigMap', '${name}', 'v1', '{}')`;
    const insertTarget = (id: string) =>
      `INSERT INTO targets (cluster_id, in_process) VALUES ('${id}', true)`;
    await interleaved(insertTarget("a"), insertGlobal("web"));
    assert.deepEqual(await copies(it), ["a web placed"]);
    await interleaved(insertGlobal("more"), insertTarget("b"));
    assert.deepEqual(await copies(it), [
      "a more placed",
      "a web placed",
      "b more placed",
      "b web placed",
    ]);
    const release = `UPDATE resources SET deleted_at = now() WHERE name = 'taken' AND cluster_id = 'a'`;
    await interleaved(insertGlobal("taken"), release);
    assert.deepEqual((await copies(it)).slice(0, 2), ["a more placed", "a taken placed"]);
    assert.deepEqual(await conflicts(it), []);
    await plain(it, "c", "taken");
    await interleaved(
      `UPDATE resources SET deleted_at = now() WHERE name = 'taken' AND cluster_id = 'c'`,
      insertTarget("c"),
    );
    assert.deepEqual((await copies(it)).slice(-3), [
      "c more placed",
      "c taken placed",
      "c web placed",
    ]);
    await touch(it);
    await it.query(`UPDATE global_resources SET deleted_at = now() WHERE name = 'web'`);
    await it.query(`DELETE FROM resources WHERE name = 'web' AND cluster_id = 'c'`);
    const purge = (id: string) =>
      `DELETE FROM resources WHERE name = 'web' AND cluster_id = '${id}'`;
    await interleaved(purge("a"), purge("b"));
    assert.equal(await rows(it, "global_resources"), 2);
  });

  test("however targets, global resources and plain ones change at once, no copy is left out", async () => {
    await using it = await fresh();
    const pools = Array.from({ length: 4 }, () => it.openAnother());
    let turn = 0;
    /** On one pool after the other; whoever stood in another's way tries again, as the API does. */
    const change = async (text: string, values: readonly unknown[]): Promise<void> => {
      const pool = pools[turn++ % pools.length] ?? it.database;
      for (;;) {
        try {
          await it.on(pool)(text, values);
          return;
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
        }
      }
    };
    const clusters = Array.from({ length: 8 }, (_, index) => `c${index}`);
    for (let round = 0; round < 2; round++) {
      await Promise.all([
        ...clusters.map((id, index) =>
          change(
            `INSERT INTO targets (cluster_id, in_process, labels) VALUES ($1, true, $2)
             ON CONFLICT (cluster_id) DO UPDATE SET labels = excluded.labels`,
            [id, { even: String((index + round) % 2 === 0) }],
          ),
        ),
        ...["n0", "n1", "n2"].map((name) =>
          change(
            `INSERT INTO global_resources (namespace, kind, name, api_version, desired_spec, selector)
             VALUES ('default', 'ConfigMap', $1, 'v1', $2, $3)
             ON CONFLICT (namespace, api_group, kind, name) WHERE deleted_at IS NULL
             DO UPDATE SET desired_spec = excluded.desired_spec`,
            [
              name,
              { data: { a: String(round) } },
              name === "n2" ? { matchLabels: { even: "true" } } : null,
            ],
          ),
        ),
        ...clusters.flatMap((id) => [
          change(
            `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
             VALUES ($1, 'default', 'ConfigMap', 'n0', 'v1', '{}') ON CONFLICT DO NOTHING`,
            [id],
          ),
          change(
            `UPDATE resources SET deleted_at = now()
             WHERE cluster_id = $1 AND global_id IS NULL AND deleted_at IS NULL`,
            [id],
          ),
        ]),
      ]);
      // Whatever came first: a wanted copy is there and as it should be, or a plain row has its key, and it is told.
      assert.deepEqual(
        await it.query(`
          SELECT w.*, r.id, r.global_id AS held_by, p.state
          FROM wanted_copies(NULL, NULL) w
          JOIN global_resources g ON g.id = w.global_id
          LEFT JOIN resources r ON r.cluster_id = w.cluster_id AND r.name = g.name AND r.deleted_at IS NULL
          LEFT JOIN global_resource_placements p ON p.cluster_id = w.cluster_id AND p.global_id = w.global_id
          WHERE r.id IS NULL
             OR p.state IS DISTINCT FROM CASE WHEN r.global_id IS NULL THEN 'conflict' ELSE 'placed' END
             OR (r.global_id IS NOT NULL AND r.desired_spec IS DISTINCT FROM g.desired_spec)`),
        [],
      );
      assert.deepEqual(
        await it.query(`
          SELECT r.cluster_id, r.name FROM resources r
          WHERE r.global_id IS NOT NULL AND r.deleted_at IS NULL
            AND NOT EXISTS (SELECT FROM wanted_copies(NULL, NULL) w
                            WHERE (w.global_id, w.cluster_id) = (r.global_id, r.cluster_id))`),
        [],
      );
    }
  });
});
