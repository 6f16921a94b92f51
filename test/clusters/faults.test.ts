// Every write of the API with a fault at each of its statements in turn: a failed one leaves nothing behind, no event
// either, and is a 503.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DatabaseUnavailable } from "@keelson/database";
import {
  alice,
  ctl,
  gcp,
  startClustersRest,
  type Answer,
  type ClustersRest,
} from "./clusters-rest.ts";

interface Ids {
  readonly cluster: string;
  readonly nodepool: string;
  readonly deleting: string;
}

const writes: Readonly<Record<string, (it: ClustersRest, at: Ids) => Promise<Answer>>> = {
  create: (it) => it.ask(alice, "POST", "/clusters", { name: "new", spec: gcp }),
  update: (it, { cluster }) =>
    it.ask(alice, "PUT", `/clusters/${cluster}`, { spec: { ...gcp, n: 1 } }),
  "create a nodepool": (it, { cluster }) =>
    it.ask(alice, "POST", "/nodepools", { name: "new", cluster_id: cluster }),
  report: (it, { cluster }) => it.report(`/clusters/${cluster}`, "new", { finalizer: true }),
  "the last report of a deletion": (it, { deleting }) =>
    it.report(`/clusters/${deleting}`, "dns", {
      conditions: [{ type: "Finalized", status: "True" }],
    }),
  delete: (it, { cluster }) => it.ask(alice, "DELETE", `/clusters/${cluster}`),
  "delete by force": (it, { cluster }) =>
    it.ask(alice, "DELETE", `/clusters/${cluster}?force=true`),
  reconcile: (it, { cluster }) => it.ask(alice, "POST", `/clusters/${cluster}/reconcile`),
  pause: (it, { nodepool }) => it.ask(alice, "POST", `/nodepools/${nodepool}/pause`),
  register: (it) => it.ask(ctl, "PUT", "/controllers/new", { kinds: ["cluster", "nodepool"] }),
};

/** Everything that a write touches, as text. */
async function everything(it: ClustersRest): Promise<string> {
  const tables = [
    "clusters",
    "controller_status",
    "reconciliation_schedule",
    "nodepools",
    "nodepool_reconciliation_schedule",
    "controllers",
    "finalizers",
    "outbox_unnumbered",
  ];
  const rows = await Promise.all(
    tables.map((table) => it.tables.query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)),
  );
  return JSON.stringify(rows);
}

suite("writes of lifecycle under faults", () => {
  for (const [name, write] of Object.entries(writes)) {
    test(`${name}: all of it or nothing`, async () => {
      let countdown = Number.POSITIVE_INFINITY;
      let hit = "";
      await using it = await startClustersRest({
        onStatement: ({ statement, phase }) => {
          // After a commit it is done, whatever the answer says.
          if (statement === "rollback" || (statement === "commit" && phase === "after")) return;
          // A write of one statement has committed when it is answered.
          if (phase === "after" && statement === "insertClusters") return;
          if (--countdown !== 0) return;
          hit = `${phase} ${statement}`;
          throw new DatabaseUnavailable("a fault");
        },
      });
      await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], finalizer: true });
      const cluster = await it.cluster(alice, "one");
      const { body } = await it.ask(alice, "POST", "/nodepools", {
        name: "p",
        cluster_id: cluster,
      });
      const deleting = await it.cluster(alice, "two");
      await it.ask(alice, "DELETE", `/clusters/${deleting}`);
      const at = { cluster, nodepool: body.id as string, deleting };
      const before = await everything(it);
      for (let n = 1; ; n++) {
        countdown = n;
        hit = "";
        const { code } = await write(it, at);
        const isHit = hit !== "";
        countdown = Number.POSITIVE_INFINITY;
        if (!isHit) {
          assert.ok(code < 300, `${name} got ${code}`);
          assert.ok(n > 1, "no statement was disturbed");
          break;
        }
        assert.equal(code, 503, hit);
        assert.ok((await everything(it)) === before, `${hit} left something behind`);
      }
      assert.ok((await everything(it)) !== before);
    });
  }

  test("retire: all of it or nothing, and deletions that it ends may end later", async () => {
    let fault = "";
    await using it = await startClustersRest({
      onStatement: ({ statement, phase }) => {
        if (`${phase} ${statement}` === fault) throw new DatabaseUnavailable("a fault");
      },
    });
    await it.ask(ctl, "PUT", "/controllers/dns", { kinds: ["cluster"], finalizer: true });
    const id = await it.cluster(alice);
    await it.ask(alice, "DELETE", `/clusters/${id}`);
    const before = await everything(it);
    const retire = async () => (await it.ask(ctl, "DELETE", "/controllers/dns")).code;
    for (fault of ["before retireController", "after retireController", "before commit"]) {
      assert.equal(await retire(), 503, fault);
      assert.ok((await everything(it)) === before, `${fault} left something behind`);
    }
    fault = "before findDone";
    assert.equal(await retire(), 204);
    fault = "";
    assert.equal((await it.ask(alice, "GET", `/clusters/${id}`)).code, 200);
    await it.settle();
    assert.equal((await it.ask(alice, "GET", `/clusters/${id}`)).code, 404);
  });

  test("33: while the database is away the answer is 503 with Retry-After, and then it is not", async () => {
    let isAway = false;
    await using it = await startClustersRest({
      onStatement: () => {
        if (isAway) throw new DatabaseUnavailable("away");
      },
    });
    const id = await it.cluster(alice);
    isAway = true;
    const answer = await it.ask(alice, "GET", `/clusters/${id}`);
    assert.deepEqual(
      [answer.code, answer.body.code, answer.headers["retry-after"]],
      [503, "DATABASE_UNAVAILABLE", "5"],
    );
    isAway = false;
    assert.equal((await it.ask(alice, "GET", `/clusters/${id}`)).code, 200);
  });
});
