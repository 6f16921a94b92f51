import assert from "node:assert/strict";
import { suite } from "node:test";

import { startOracle } from "./cluster.ts";
import { oracleTest } from "./oracle-test.ts";
import {
  describeTally,
  runSchemaDifferential,
  runUpdateDifferential,
} from "./schema-differential.ts";
import { runValidityDifferential } from "./schema-validity.ts";

const seed = process.env["ORACLE_SEED"] ?? String(process.hrtime.bigint());

suite("schemas against the oracle", () => {
  oracleTest("values are defaulted, pruned and judged alike", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: 1_200 };
    const tally = await runSchemaDifferential(run, t.signal);
    t.diagnostic(describeTally("create", seed, tally));
    assert.deepEqual(tally.differences, []);
    assert.ok(tally.accepted * 5 >= tally.cases * 2, "too few values were right");
  });

  oracleTest("what did not change is let through alike", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: 800 };
    const tally = await runUpdateDifferential(run, t.signal);
    t.diagnostic(describeTally("update", seed, tally));
    assert.deepEqual(tally.differences, []);
  });

  oracleTest("schemas themselves are judged alike", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, cases: 600 };
    const tally = await runValidityDifferential(run, t.signal);
    t.diagnostic(describeTally("schemas", seed, tally));
    assert.deepEqual(tally.differences, []);
  });
});
