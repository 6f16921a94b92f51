import assert from "node:assert/strict";
import { suite } from "node:test";

import { startOracle } from "./cluster.ts";
import { trialSettings } from "./differential.ts";
import { oracleTest } from "./oracle-test.ts";
import { describeTally, runSchemaDifferential } from "./schema-differential.ts";
import { runUpdateDifferential } from "./schema-update.ts";
import { runValidityDifferential } from "./schema-validity.ts";

suite("schemas against the oracle", () => {
  oracleTest("values are defaulted, pruned and judged alike", async (t) => {
    const { seed, count } = trialSettings(1_200);
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runSchemaDifferential(run, t.signal);
    t.diagnostic(describeTally("create", seed, tally));
    assert.deepEqual(tally.differences, []);
    assert.ok(tally.accepted * 5 >= tally.cases * 2, "too few values were right");
  });

  oracleTest("what did not change is let through alike", async (t) => {
    const { seed, count } = trialSettings(800);
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runUpdateDifferential(run, t.signal);
    t.diagnostic(describeTally("update", seed, tally));
    assert.deepEqual(tally.differences, []);
  });

  oracleTest("schemas themselves are judged alike", async (t) => {
    const { seed, count } = trialSettings(600);
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: count };
    const tally = await runValidityDifferential(run, t.signal);
    t.diagnostic(describeTally("schemas", seed, tally));
    assert.deepEqual(tally.differences, []);
  });
});
