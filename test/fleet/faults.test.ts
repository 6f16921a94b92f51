// Every write of the API with a fault at each of its statements in turn: a failed one leaves nothing behind.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatementPoint } from "@keelson/database";
import { DatabaseUnavailable } from "@keelson/database";
import { eachFleetRest, type FleetRest } from "./fleet-rest.ts";

const web = {
  cluster_id: "prod",
  namespace: "shop",
  kind: "Deployment",
  name: "web",
  desired_spec: { spec: { replicas: 1 } },
};
const spec = (replicas: number) => ({ desired_spec: { spec: { replicas } } });

/** What is there before, and the write. */
const writes: Readonly<
  Record<
    string,
    { before: readonly object[]; write: (it: FleetRest, id: number) => Promise<number> }
  >
> = {
  create: { before: [], write: (it) => code(it.ask("POST", "/resources", web)) },
  "upsert of a new one": { before: [], write: (it) => code(it.ask("PUT", "/resources", web)) },
  "upsert of an old one": {
    before: [web],
    write: (it) => code(it.ask("PUT", "/resources", { ...web, ...spec(2) })),
  },
  replace: {
    before: [web],
    write: (it, id) => code(it.ask("PUT", `/resources/${id}`, spec(2))),
  },
  restore: {
    before: [web, { ...web, ...spec(2) }],
    write: (it, id) => code(it.ask("PUT", `/resources/${id}`, { revision: 1 })),
  },
  delete: { before: [web], write: (it, id) => code(it.ask("DELETE", `/resources/${id}`)) },
  forget: {
    before: [web],
    write: (it, id) => code(it.ask("DELETE", `/resources/${id}?orphan=true`)),
  },
  pause: { before: [web], write: (it, id) => code(it.ask("POST", `/resources/${id}/pause`)) },
  batch: {
    before: [web],
    write: (it, id) =>
      code(
        it.ask("POST", "/batch", {
          changes: [
            { op: "create", ...web, name: "other" },
            { op: "update", id, ...spec(2) },
            { op: "delete", id },
          ],
        }),
      ),
  },
};

async function code(answer: ReturnType<FleetRest["ask"]>): Promise<number> {
  return (await answer).code;
}

/** Everything that a write touches, as text. */
async function everything(it: FleetRest): Promise<string> {
  const tables = ["resources", "resource_revisions", "resource_attempts", "events_unnumbered"];
  const rows = await Promise.all(
    tables.map((table) => it.tables.query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)),
  );
  return JSON.stringify(rows);
}

eachFleetRest("fleet's writes under faults", (fresh) => {
  for (const [name, { before, write }] of Object.entries(writes)) {
    test(`${name}: all of it or nothing`, async () => {
      let countdown = 0;
      let isCommitted = false;
      await using it = await fresh({
        onStatement: ({ phase, statement }: StatementPoint) => {
          if (phase === "after" && statement === "commit") isCommitted = true;
          // The bell rings after the write, and may fail alone.
          if (phase !== "before" || statement === "notify" || countdown === 0) return;
          countdown -= 1;
          if (countdown === 0) throw new DatabaseUnavailable("a fault");
        },
      });
      for (const body of before) await it.ask("PUT", "/resources", body as never);
      const [row] = await it.tables.query<{ id: number }>(`SELECT id FROM resources LIMIT 1`);
      const id = row?.id ?? 0;
      const untouched = await everything(it);
      for (let statement = 1; ; statement++) {
        countdown = statement;
        isCommitted = false;
        const answered = await write(it, id);
        const isDone = countdown > 0;
        countdown = 0;
        if (isDone) {
          assert.ok(answered < 300, `${answered}`);
          assert.ok(statement > 3, "faults were met on the way");
          break;
        }
        assert.equal(answered, 503, `at statement ${statement}`);
        // After the commit the write is there, and only its answer is lost.
        const isWritten = (await everything(it)) !== untouched;
        assert.equal(isWritten, isCommitted, `at statement ${statement}`);
        if (isWritten) break;
      }
    });
  }
});
