import assert from "node:assert/strict";
import { suite } from "node:test";

import { runCelDifferential } from "./cel-differential.ts";
import { startOracle } from "./cluster.ts";
import { oracleTest } from "./oracle-test.ts";
import { describeTally } from "./schema-differential.ts";

const seed = process.env["ORACLE_SEED"] ?? String(process.hrtime.bigint());

suite("rules against the oracle", () => {
  oracleTest("rules hold, fail and break alike, and say the same", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const run = { client: oracle.client, seed, joined: 60 };
    const tally = await runCelDifferential(run, t.signal);
    t.diagnostic(describeTally("rules", seed, tally));
    assert.deepEqual(tally.differences, []);
    assert.ok(tally.cases > 1_000);
  });
});
