// Scenarios 42 to 45 of the contract: deletion with its gate and finalizers.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "@keelson/base/testing";
import { statement } from "@keelson/database";
import { never } from "./events-bed.ts";
import { schedulerOn, TestTime } from "./scheduler-bed.ts";
import {
  alice,
  available,
  code,
  ctl,
  gcp,
  startClustersRest,
  type ClustersRest,
} from "./clusters-rest.ts";

const finalized = { conditions: [{ type: "Finalized", status: "True", reason: "", message: "" }] };

const reportFinalizer = statement<string>(
  "reportFinalizer",
  (sql, id) => sql`
    WITH locked AS (SELECT id FROM clusters WHERE id = ${id} FOR NO KEY UPDATE)
    INSERT INTO finalizers (kind, resource_id, controller_name) SELECT 'cluster', id, 'late' FROM locked`,
);

async function told(it: ClustersRest): Promise<readonly string[]> {
  return (await it.events())
    .filter(
      ({ type }) =>
        !["cluster.reconcile", "nodepool.reconcile", "status.changed"].includes(String(type)),
    )
    .map(({ type, reason }) => `${String(type)} ${String(reason)}`);
}

suite("deletion", () => {
  test("42: the gate: a ready cluster is deleted only when that is meant", async () => {
    await using it = await startClustersRest();
    const ready = async (name: string) => {
      const path = `/clusters/${await it.cluster(alice, name)}`;
      await it.report(path, "a");
      return path;
    };
    const path = await ready("one");
    const refused = await it.ask(alice, "DELETE", path);
    assert.deepEqual(
      [refused.code, refused.body.code, refused.body.details],
      [409, "PHASE_FORBIDS_DELETE", { phase: "Ready" }],
    );
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Failed`)), 409);
    // What was confirmed must be so, also for whoever would not have to confirm it.
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Failed&force=true`)), 409);
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Sleeping`)), 400);
    for (const force of ["1", "yes", ""]) {
      assert.equal(await code(it.ask(alice, "DELETE", `${path}?force=${force}`)), 400);
    }
    const stale = { "if-match": `"other"` };
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?force=true`, undefined, stale)), 412);
    assert.equal(await code(it.ask(alice, "GET", path)), 200);
    const meant = await it.ask(alice, "DELETE", `${path}?confirm=Ready`);
    assert.deepEqual(
      [meant.code, Object.keys(meant.body).sort()],
      [202, ["cluster_id", "message"]],
    );
    assert.equal(await code(it.ask(alice, "DELETE", `${await ready("two")}?force=true`)), 202);
    const failed = await ready("three");
    await it.report(failed, "a", {
      last_error: { errorType: "Fatal", message: "no" },
    });
    assert.equal(await code(it.ask(alice, "DELETE", failed)), 202);
  });

  test("43, 44, 45: finalizers are waited for; then it is gone, its name is free, and it was told once", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], finalizer: true });
    await it.ask(ctl, "PUT", "/controllers/aws", {
      kinds: ["cluster"],
      platforms: ["aws"],
      finalizer: true,
    });
    const id = await it.cluster(alice);
    const path = `/clusters/${id}`;
    await it.report(path, "storage", { conditions: [available("False")], finalizer: true });
    // Before anybody deletes, being done with it means nothing.
    await it.report(path, "dns", { conditions: [available("False"), ...finalized.conditions] });
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Progressing`)), 202);
    const shown = await it.ask(alice, "GET", path);
    assert.deepEqual(
      [shown.code, shown.body.status.phase, typeof shown.body.deletion_timestamp],
      [200, "Deleting", "string"],
    );
    assert.deepEqual([shown.body.generation, shown.body.status.observedGeneration], [2, 2]);
    const put = await it.ask(alice, "PUT", path, { spec: { ...gcp, n: 1 } });
    assert.deepEqual([put.code, put.body.code], [409, "RESOURCE_DELETING"]);
    const pool = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    assert.deepEqual([pool.code, pool.body.code], [409, "RESOURCE_DELETING"]);
    assert.equal(await code(it.ask(alice, "DELETE", path)), 202);
    assert.equal(await code(it.ask(alice, "POST", "/clusters", { name: "one", spec: gcp })), 409);

    await it.report(path, "dns", finalized);
    assert.equal(await code(it.ask(alice, "GET", path)), 200);
    const last = await it.report(path, "storage", { ...finalized, observed_generation: 2 });
    assert.equal(last.code, 200);
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
    assert.equal(await code(it.ask(alice, "DELETE", path)), 404);
    assert.equal((await it.report(path, "dns")).code, 404);
    assert.deepEqual(await told(it), [
      "cluster.created cluster_created",
      "cluster.deleted deletion_requested",
      "cluster.finalized finalized",
    ]);
    const deleted = (await it.events()).find(({ type }) => type === "cluster.deleted");
    assert.deepEqual(deleted?.["metadata"], { finalizers: ["dns", "storage"] });
    const [left] = await it.tables.query(
      `SELECT (SELECT count(*) FROM controller_status) + (SELECT count(*) FROM reconciliation_schedule) AS rows`,
    );
    assert.deepEqual(left, { rows: "0" });
    // Controllers may look back.
    assert.equal(await code(it.ask(alice, "GET", `${path}?include_deleted=true`)), 404);
    const tombstone = await it.ask(ctl, "GET", `${path}?include_deleted=true`);
    assert.deepEqual(
      [tombstone.code, tombstone.body.status.phase, typeof tombstone.body.deleted_at],
      [200, "Deleting", "string"],
    );
    assert.equal((await it.ask(ctl, "GET", "/clusters?include_deleted=true")).body.total, 1);
    assert.equal((await it.ask(alice, "GET", "/clusters?include_deleted=true")).body.total, 0);
    assert.notEqual(await it.cluster(alice, "one"), id);
  });

  test("43: force does not wait, at first or later; nor does a deletion wait for who has retired", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", {
      kinds: ["cluster", "nodepool"],
      finalizer: true,
    });
    const make = async (name: string) => {
      const id = await it.cluster(alice, name);
      const pool = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
      return [`/clusters/${id}`, `/nodepools/${pool.body.id}`] as const;
    };
    const [one, onesPool] = await make("one");
    assert.equal(await code(it.ask(alice, "DELETE", `${one}?force=true`)), 202);
    assert.equal(await code(it.ask(alice, "GET", one)), 404);
    assert.equal(await code(it.ask(alice, "GET", onesPool)), 404);

    const [two, twosPool] = await make("two");
    await it.ask(alice, "DELETE", two);
    assert.equal((await it.ask(alice, "GET", two)).body.status.phase, "Deleting");
    assert.equal((await it.ask(alice, "GET", twosPool)).body.status.phase, "Deleting");
    assert.equal(await code(it.ask(alice, "DELETE", `${two}?force=true`)), 202);
    assert.equal(await code(it.ask(alice, "GET", two)), 404);
    assert.equal(await code(it.ask(alice, "GET", twosPool)), 404);

    const [three, threesPool] = await make("three");
    await it.ask(alice, "DELETE", three);
    assert.equal(await code(it.ask(alice, "GET", threesPool)), 200);
    assert.equal(await code(it.ask(ctl, "DELETE", "/controllers/dns")), 204);
    assert.equal(await code(it.ask(alice, "GET", three)), 404);
    assert.equal(await code(it.ask(alice, "GET", threesPool)), 404);
    const events = await told(it);
    for (const word of [
      "cluster.deleted",
      "nodepool.deleted",
      "cluster.finalized",
      "nodepool.finalized",
    ]) {
      assert.equal(events.filter((event) => event.startsWith(word)).length, 3, word);
    }
    assert.equal(events.filter((event) => event.endsWith("force_deletion")).length, 2);
  });

  test("43: who has retired and reports again with a finalizer is waited for again", async () => {
    await using it = await startClustersRest();
    const path = `/clusters/${await it.cluster(alice)}`;
    const held = { conditions: [available("False")], finalizer: true };
    await it.report(path, "storage", held);
    assert.equal(await code(it.ask(ctl, "DELETE", "/controllers/storage")), 204);
    await it.report(path, "storage", held);
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Progressing`)), 202);
    assert.equal((await it.ask(alice, "GET", path)).body.status.phase, "Deleting");
    await it.report(path, "storage", { ...finalized, finalizer: true });
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
  });

  test("43: what was recorded for a controller while it retired holds nothing", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], finalizer: true });
    const path = `/clusters/${await it.cluster(alice)}`;
    assert.equal(await code(it.ask(alice, "DELETE", path)), 202);
    await it.settle();
    assert.equal(await code(it.ask(alice, "GET", path)), 200);
    // As if the deletion had not yet seen that it has retired, nor the retirement that it is waited for.
    await it.tables.query(`UPDATE controllers SET retired_at = now()`);
    await it.settle();
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
  });

  test("a cluster waits for its nodepools, and what a crash left unfinished the pass ends", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["nodepool"], finalizer: true });
    const id = await it.cluster(alice);
    const pools = await Promise.all(
      ["p", "q"].map(async (name) => {
        const { body } = await it.ask(alice, "POST", "/nodepools", { name, cluster_id: id });
        return `/nodepools/${body.id}`;
      }),
    );
    const [p = "", q = ""] = pools;
    assert.equal(await code(it.ask(alice, "DELETE", `/clusters/${id}`)), 202);
    await it.report(p, "dns", finalized);
    assert.equal(await code(it.ask(alice, "GET", p)), 404);
    assert.equal(await code(it.ask(alice, "GET", `/clusters/${id}`)), 200);
    // As if the process had ended between the two.
    await it.tables.query(`UPDATE finalizers SET finalized_at = now()`);
    await it.settle();
    assert.equal(await code(it.ask(alice, "GET", q)), 404);
    assert.equal(await code(it.ask(alice, "GET", `/clusters/${id}`)), 404);
  });

  test("a finalizer that is reported while the last nodepool ends is waited for", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["nodepool"], finalizer: true });
    const id = await it.cluster(alice);
    const { body } = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    await it.ask(alice, "DELETE", `/clusters/${id}`);
    // What a report of a controller does, whose transaction takes its time.
    const { reporting } = await it.tables.database.transaction(async (sql) => {
      await sql.run(reportFinalizer, id);
      const reporting = it.report(`/nodepools/${body.id}`, "dns", finalized);
      await until(
        async () => (await it.tables.query(`SELECT FROM pg_locks WHERE NOT granted`)).length > 0,
      );
      return { reporting };
    }, never);
    assert.equal((await reporting).code, 200);
    await it.settle();
    assert.equal(await code(it.ask(alice, "GET", `/nodepools/${body.id}`)), 404);
    assert.equal((await it.ask(alice, "GET", `/clusters/${id}`)).body.status.phase, "Deleting");
    await it.report(`/clusters/${id}`, "late", finalized);
    assert.equal(await code(it.ask(alice, "GET", `/clusters/${id}`)), 404);
  });

  test("a deletion and a new nodepool at once: never a nodepool in a cluster that is gone", async () => {
    await using it = await startClustersRest();
    for (let round = 0; round < 5; round++) {
      const id = await it.cluster(alice, `c${round}`);
      const [made] = await Promise.all([
        it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id }),
        it.ask(alice, "DELETE", `/clusters/${id}`),
      ]);
      const [left] = await it.tables.query(`
        SELECT count(*)::integer AS rows FROM nodepools n JOIN clusters c ON c.id = n.cluster_id
        WHERE c.deleted_at IS NOT NULL AND n.deleted_at IS NULL`);
      assert.deepEqual(left, { rows: 0 }, `the nodepool got ${made.code}`);
    }
  });

  test("what was paused is announced again once its deletion is asked for, its nodepools too", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", {
      kinds: ["cluster", "nodepool"],
      finalizer: true,
    });
    const id = await it.cluster(alice);
    const { body } = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    const paths = [`/clusters/${id}`, `/nodepools/${body.id}`];
    for (const path of paths) assert.equal(await code(it.ask(alice, "POST", `${path}/pause`)), 200);
    assert.equal(await code(it.ask(alice, "DELETE", `/clusters/${id}`)), 202);
    const time = new TestTime();
    time.pass(1_000);
    assert.equal(await schedulerOn(it.tables.database, { time }).tick(never), 2);
    const announced = (await it.events()).filter(({ reason }) => reason === "deletion_pending");
    assert.deepEqual(
      announced.map(({ type }) => type),
      ["cluster.reconcile", "nodepool.reconcile"],
    );

    // Whoever pauses what is being deleted means that.
    for (const path of paths) assert.equal(await code(it.ask(alice, "POST", `${path}/pause`)), 200);
    assert.equal(await code(it.ask(alice, "DELETE", `/clusters/${id}`)), 202);
    time.pass(3_600_000);
    assert.equal(await schedulerOn(it.tables.database, { time }).tick(never), 0);
  });

  test("asking again takes along the nodepools of a cluster that was deleted by SQL, once", async () => {
    const statements = new Set<string>();
    await using it = await startClustersRest({
      onStatement: ({ statement }) => void statements.add(statement),
    });
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["nodepool"], finalizer: true });
    const id = await it.cluster(alice);
    const path = `/clusters/${id}`;
    const { body } = await it.ask(alice, "POST", "/nodepools", { name: "p", cluster_id: id });
    await it.tables.query(`UPDATE clusters SET deletion_timestamp = now()`);
    await it.settle();
    const before = await told(it);
    assert.equal(await code(it.ask(alice, "DELETE", path)), 202);
    assert.deepEqual((await told(it)).slice(before.length), [
      "nodepool.deleted deletion_requested",
    ]);
    statements.clear();
    assert.equal(await code(it.ask(alice, "DELETE", path)), 202);
    assert.deepEqual([...statements], ["begin", "lockResource", "lockNodepools", "commit"]);
    assert.equal((await told(it)).length, before.length + 1);
    await it.report(`/nodepools/${body.id}`, "dns", finalized);
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
  });

  test("43: who says at once that it is done and holds nothing any more is not waited for", async () => {
    await using it = await startClustersRest();
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], finalizer: true });
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "dns", { conditions: [available("False")], finalizer: true });
    assert.equal(await code(it.ask(alice, "DELETE", `${path}?confirm=Progressing`)), 202);
    const done = { ...finalized, finalizer: false, observed_generation: 2 };
    assert.equal(await code(it.report(path, "dns", done)), 200);
    assert.equal(await code(it.ask(alice, "GET", path)), 404);
  });
});
