import assert from "node:assert/strict";
import { test } from "node:test";
import { statement } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { createFleetDatabase } from "../testing/index.ts";
import { claimWork, recordFailed } from "./work.ts";

const asked = { clusterId: "c", owner: "me", leaseMs: 1_000, limit: 32 };
const explain = statement<undefined, { readonly "QUERY PLAN": string }>(
  "explain",
  (sql) => sql`EXPLAIN ANALYZE ${claimWork.build(sql, asked)}`,
);

test("a claim does not look at what is due later, however much of it there is", async (t) => {
  const server = await sharedThrowawayPostgres("embedded");
  await using tables = await createFleetDatabase(server, { deadlineMs: 50_000 });
  await tables.query(`INSERT INTO targets (cluster_id, agent) VALUES ('c', true)`);
  await tables.query(
    `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
     SELECT 'c', 'default', 'ConfigMap', 'm-' || n, 'v1', '{}' FROM generate_series(1, 2000) n`,
  );
  await tables.query(
    `UPDATE resource_attempts SET due_at = now() + interval '1 h' WHERE resource_id > 3`,
  );
  for (const table of ["resources", "resource_attempts"]) {
    await tables.query(`VACUUM (ANALYZE) ${table}`);
  }
  const lines = await tables.database.run(explain, undefined, t.signal);
  const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
  assert.match(plan, /Index Cond: .*due_at <= /, plan);
  const inVain = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) =>
    Number(rows),
  );
  assert.deepEqual(
    inVain.filter((rows) => rows > 100),
    [],
    plan,
  );
});

test("nothing is claimed of a target that is paused", async (t) => {
  await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
  await tables.query(`INSERT INTO targets (cluster_id, agent) VALUES ('c', true), ('d', true)`);
  await tables.query(
    `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
     SELECT c, 'default', 'ConfigMap', 'm', 'v1', '{}' FROM unnest(ARRAY ['c', 'd']) c`,
  );
  const claimed = async () => (await tables.database.run(claimWork, asked, t.signal)).length;
  await tables.query(`UPDATE targets SET paused = cluster_id = 'c'`);
  assert.equal(await claimed(), 0);
  await tables.query(`UPDATE targets SET paused = cluster_id = 'd'`);
  assert.equal(await claimed(), 1);
});

test("a failure is recorded whatever its message holds", async (t) => {
  await using tables = await createFleetDatabase(await sharedThrowawayPostgres("embedded"));
  await tables.query(
    `INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
     VALUES ('c', 'default', 'ConfigMap', 'm', 'v1', '{}')`,
  );
  const [claim] = await tables.database.run(claimWork, asked, t.signal);
  assert.ok(claim !== undefined);
  const { resource_id: id, fence, requests } = claim;
  const message = "denied: \0 and \ud800";
  const failure = { about: "resource", errorClass: "forbidden", message } as const;
  const [outcome] = await tables.database.run(
    recordFailed,
    {
      id,
      fence,
      requests,
      generation: 1,
      failure: { ...failure, httpStatus: 403, afterMs: undefined },
      retryMs: 1_000,
    },
    t.signal,
  );
  assert.equal(outcome?.recorded, true);
  const told = await tables.query(`SELECT error_message FROM resource_attempts`);
  assert.deepEqual(told, [{ error_message: "denied: \ufffd and \ufffd" }]);
});
