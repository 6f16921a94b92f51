import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "@keelson/base";

import { DatabaseAdmin } from "../sql/database-admin.ts";
import { appWith, MemoryLedger, ownerless } from "../testing/index.ts";
import { reconcileDatabase, type DatabaseStep } from "./database-step.ts";

const untouched = (): Promise<never> => Promise.reject(new Error("a child was asked for"));

test("an app that has a schema gets no other beside it, unless that one is kept on purpose", async (t) => {
  await using admin = new DatabaseAdmin({ adminUrl: () => Promise.reject(new Error("asked")) });
  const step: DatabaseStep = {
    admin,
    children: { apply: untouched, findNow: untouched, list: untouched, remove: untouched },
    settings: {},
    random: systemRandom,
    told: new Map(),
  };
  const app = appWith({ database: { enabled: true } });
  const ledger = new MemoryLedger();
  for (const state of ["Creating", "Ready", "Deleting"] as const) {
    await ledger.record({ kind: "Schema", name: "prod_other", state });
    await assert.rejects(reconcileDatabase(step, { app, ledger, adopts: false }, t.signal), {
      reason: "InvalidSpec",
      message: /^schema prod_other is its own .* would not have: switch the database off first$/,
    });
  }
  const preview = ownerless(app);
  await assert.rejects(reconcileDatabase(step, { app: preview, ledger, adopts: false }, t.signal), {
    reason: "InvalidSpec",
    message: /delete the preview and create it anew$/,
  });
  await ledger.record({ kind: "Schema", name: "prod_other", state: "Retained" });
  await assert.rejects(reconcileDatabase(step, { app, ledger, adopts: false }, t.signal), /asked/);
});
