import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { statement } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/fleet-database.ts";
import { WatchedRows } from "./watched-rows.ts";

const insertRows = statement<{ readonly kind: string; readonly count: number }>(
  "insertRows",
  (sql, { kind, count }) => sql`
    INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
    SELECT 'prod', 'default', ${kind}, 'm-' || nextval('resources_id_seq'), 'v1', '{}'
    FROM generate_series(1, ${count}::integer)`,
);

suite("which rows are watched", () => {
  test("one that is committed late is read, however many were written after it, by whoever began before it", async (t) => {
    await using it = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    const rows = new WatchedRows();
    const refresh = () =>
      rows
        .refresh(it.database, { clusterId: "prod", ids: [] }, t.signal)
        .then(() => rows.isSettled);
    /** Other tests may be writing to the same server. */
    const untilSettled = async (): Promise<void> => {
      while (!(await refresh())) t.signal.throwIfAborted();
    };
    const kinds = () => rows.kinds.map(({ kind }) => kind).toSorted();
    await using one = it.openAnother({ connectionsMax: 1 });
    await using other = it.openAnother({ connectionsMax: 1 });
    await other.transaction(async (late) => {
      await one.transaction(async (early) => {
        await early.run(insertRows, { kind: "ConfigMap", count: 1 });
        await late.run(insertRows, { kind: "Secret", count: 1 });
        await early.run(insertRows, { kind: "ConfigMap", count: 300 });
      }, t.signal);
      // Whether it is looked often or seldom: as long as one writes who began before, nothing is settled.
      for (let n = 0; n < 4; n++) assert.equal(await refresh(), false);
      assert.deepEqual(kinds(), ["ConfigMap"]);
    }, t.signal);
    await refresh();
    assert.deepEqual(kinds(), ["ConfigMap", "Secret"]);
    await untilSettled();
    await it.database.transaction(
      (sql) => sql.run(insertRows, { kind: "Service", count: 1 }),
      t.signal,
    );
    assert.equal(await refresh(), false);
    await untilSettled();
  });
});

suite("which kinds are watched", () => {
  test("a kind keeps its version while a row has it and it is served, and goes with its last row", async (t) => {
    await using it = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
    const insert = async (apiVersion: string, kind: string, name: string): Promise<void> => {
      await it.query(
        `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
         VALUES ('prod', 'default', $1, $2, $3, '{}')`,
        [kind, name, apiVersion],
      );
    };
    await insert("example.com/v1beta1", "Gadget", "old");
    await insert("v1", "Secret", "s");
    const rows = new WatchedRows();
    const clusterId = "prod";
    const read = async (...unserved: string[]): Promise<Record<string, string>> => {
      await rows.refresh(it.database, { clusterId, ids: [] }, t.signal);
      const asked = { clusterId, unserved: new Set(unserved) };
      await rows.refreshKinds(it.database, asked, t.signal);
      return Object.fromEntries(rows.kinds.map(({ id, apiVersion }) => [id, apiVersion]));
    };
    const gadget = "example.com/Gadget";
    assert.deepEqual(await read(), { [gadget]: "example.com/v1beta1", "/Secret": "v1" });
    await insert("example.com/v1", "Gadget", "new");
    assert.equal((await read())[gadget], "example.com/v1beta1");
    assert.equal((await read(gadget))[gadget], "example.com/v1");
    assert.equal((await read())[gadget], "example.com/v1");
    await it.query(`UPDATE resources SET api_version = 'example.com/v2' WHERE kind = 'Gadget'`);
    assert.equal((await read())[gadget], "example.com/v2");
    assert.equal((await read(gadget))[gadget], "example.com/v2");
    assert.equal(rows.of("/Secret", "default/s").length, 1);
    await it.query(`DELETE FROM resources WHERE kind = 'Secret'`);
    assert.deepEqual(Object.keys(await read()), [gadget]);
    assert.equal(rows.of("/Secret", "default/s").length, 0);
    await insert("v1", "Secret", "s");
    assert.deepEqual(Object.keys(await read()).toSorted(), ["/Secret", gadget]);
    assert.equal(rows.of("/Secret", "default/s").length, 1);
  });
});
