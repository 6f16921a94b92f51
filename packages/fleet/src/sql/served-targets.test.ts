import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { statement } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/index.ts";
import { readServed } from "./served-targets.ts";

/** Long, so that its index is a level higher than the one of ids, as it is with more rows: to begin there costs more. */
const big = `big-${"x".repeat(90)}`;

const explain = statement<undefined, { readonly "QUERY PLAN": string }>(
  "explain",
  (sql) => sql`EXPLAIN ${readServed.build(sql, { onlyCluster: null })}`,
);

suite("the poll", () => {
  test("reads by its indexes alone, also where one cluster has nearly all rows; knows what is due and what is newest", async (t) => {
    const server = await sharedThrowawayPostgres("embedded");
    await using tables = await createFleetDatabase(server, { deadlineMs: 240_000 });
    await tables.query(
      `INSERT INTO targets (cluster_id, agent) VALUES ('${big}', true), ('empty', true), ('small', true)`,
    );
    const insert = (clusterId: string, count: number) =>
      tables.query(
        `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
         SELECT $1, 'default', 'ConfigMap', 'm-' || n, 'v1', '{}' FROM generate_series(1, $2::integer) n`,
        [clusterId, count],
      );
    await insert("small", 2);
    await insert(big, 20_000);
    await tables.query(`UPDATE resource_attempts SET due_at = NULL WHERE cluster_id = '${big}'`);
    for (const table of ["resources", "resource_attempts", "targets"]) {
      await tables.query(`VACUUM (ANALYZE) ${table}`);
    }

    const lines = await tables.database.run(explain, undefined, t.signal);
    const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
    const ways = [...plan.matchAll(/Scan .*?(?:using (\w+) )?on (\w+)/g)].map(
      ([, index = "all of it", table]) => `${table} by ${index}`,
    );
    assert.deepEqual(
      new Set(ways),
      new Set([
        "targets by all of it",
        "resource_attempts by idx_attempts_due",
        "resources by idx_resources_newest",
      ]),
      plan,
    );
    const rows = await tables.database.run(readServed, { onlyCluster: null }, t.signal);
    assert.deepEqual(
      new Map(rows.map((row) => [row.cluster_id, [row.wait_ms, row.last_id]])),
      new Map([
        [big, [null, 20_002]],
        ["empty", [null, null]],
        ["small", [0, 2]],
      ]),
    );
  });
});
