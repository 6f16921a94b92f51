import assert from "node:assert/strict";
import { suite } from "node:test";

import { sharedLaboratory, trialSettings } from "./differential.ts";
import { oracleTest } from "./oracle-test.ts";
import { describeTally, runSchemaDifferential } from "./schema-differential.ts";
import { runUpdateDifferential } from "./schema-update.ts";
import { runValidityDifferential } from "./schema-validity.ts";

suite("schemas against the oracle", () => {
  const open = sharedLaboratory({ namespaces: 0 });

  oracleTest("values are defaulted, pruned and judged alike", async (t) => {
    const { seed, count } = trialSettings(1_200);
    const { oracle } = await open();
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runSchemaDifferential(run, t.signal);
    t.diagnostic(describeTally("create", seed, tally));
    assert.deepEqual(tally.differences, []);
    // Close to half of them are, but all values of a schema may be wrong, and there are but sixty schemas.
    assert.ok(tally.accepted * 5 >= tally.cases, "too few values were right");
  });

  oracleTest("what did not change is let through alike", async (t) => {
    const { seed, count } = trialSettings(800);
    const { oracle } = await open();
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runUpdateDifferential(run, t.signal);
    t.diagnostic(describeTally("update", seed, tally));
    assert.deepEqual(tally.differences, []);
  });

  oracleTest("schemas themselves are judged alike", async (t) => {
    const { seed, count } = trialSettings(600);
    const { oracle } = await open();
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runValidityDifferential(run, t.signal);
    t.diagnostic(describeTally("schemas", seed, tally));
    assert.deepEqual(tally.differences, []);
  });
});
