// The three questions of the contract (2.4), as they stand there, asked in psql: they agree with what the API says.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { DatabaseUnavailable } from "@keelson/database";
import { until } from "../tools/until.ts";
import { applied, startBed, web, type Details } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";

const run = promisify(execFile);

const questions = {
  outOfSync: `SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
WHERE r.cluster_id = 'prod'
  AND r.generation != COALESCE(ras.generation, 0);`,
  pendingApplied: `SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
LEFT JOIN resource_current_states rcs ON r.id = rcs.resource_id
WHERE ras.generation != COALESCE(rcs.generation, 0);`,
  synced: `SELECT r.id, r.kind, r.namespace, r.name
FROM resources r
LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
LEFT JOIN resource_current_states rcs ON r.id = rcs.resource_id
WHERE r.generation = ras.generation
  AND ras.generation = rcs.generation;`,
} as const;

/** Under which question a status falls; by generations alone, what has drifted counts as synced. */
const questionOf: Readonly<Record<string, keyof typeof questions>> = {
  pending: "outOfSync",
  "out-of-sync": "outOfSync",
  error: "outOfSync",
  deleting: "outOfSync",
  "pending-applied": "pendingApplied",
  synced: "synced",
  drifted: "synced",
};

/** The statements that record what was seen. */
const recordsOfSights = ["recordObserved", "recordUndrifted"];

const isMissing = spawnSync("psql", ["--version"]).error !== undefined;
const skip = isOracle ? "they are the database's" : isMissing && "psql is not here";

suite("the contract's questions", { skip }, () => {
  test("2.4: in psql they name the rows of which the API says the same", async (t) => {
    let isBlind = false;
    await using it = await startBed(t.signal, {
      onStatement: ({ statement, phase }) => {
        if (isBlind && recordsOfSights.includes(statement) && phase === "before") {
          throw new DatabaseUnavailable("what is seen is not recorded");
        }
      },
    });
    it.startWorker();
    const create = (name: string, more: object = {}) => it.create({ ...web, name, ...more });
    const is = (id: number, status: string) =>
      it.becomes(id, (body: Details) => body.status === status);
    const put = (id: number, body: object) => it.rest.ask("PUT", `/resources/${id}`, body as never);
    const spec = (a: unknown) => ({ desired_spec: { data: { a } } });
    const ids = {
      synced: await create("synced"),
      outOfSync: await create("out-of-sync"),
      failing: await create("failing"),
      deleting: await create("deleting"),
      drifted: await create("drifted", { drift_policy: "report" }),
    };
    for (const id of Object.values(ids)) await is(id, "synced");
    await it.rest.ask("POST", `/resources/${ids.outOfSync}/pause`);
    await put(ids.outOfSync, spec("2"));
    await put(ids.failing, spec(7));
    await is(ids.failing, "error");
    const maps = await it.configMaps();
    const ref = (name: string) => ({ namespace: "default", name });
    await maps.addFinalizer(
      await maps.get(ref("deleting"), t.signal),
      "example.com/hold",
      t.signal,
    );
    await it.rest.ask("DELETE", `/resources/${ids.deleting}`);
    const body = { data: { a: "theirs" } };
    await maps.patch(ref("drifted"), { type: "merge", body }, t.signal);
    await is(ids.drifted, "drifted");
    await create("pending", { paused: true });
    isBlind = true;
    const unseen = await create("unseen");
    await it.becomes(unseen, applied(1));
    const listed = async () => {
      const { resources } = (await it.rest.ask("GET", "/resources")).body;
      return (resources as Details[]).map(({ id, status }) => [id, status] as const);
    };
    const expected = [
      "drifted",
      "synced",
      "out-of-sync",
      "error",
      "deleting",
      "pending",
      "pending-applied",
    ];
    await until(async () => {
      const statuses = new Set((await listed()).map(([, status]) => status as string));
      return expected.every((status) => statuses.has(status));
    }, t.signal);
    const rows = await listed();
    for (const [question, text] of Object.entries(questions)) {
      const args = ["--no-psqlrc", "--tuples-only", "--no-align", "--dbname", it.rest.tables.url];
      const { stdout } = await run("psql", [...args, "--command", text]);
      const named = stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => Number(line.split("|")[0]));
      const meant = rows.filter(([, status]) => questionOf[status] === question);
      assert.deepEqual(
        named.toSorted((a, b) => a - b),
        meant.map(([id]) => id),
        question,
      );
    }
  });
});
