import assert from "node:assert/strict";
import { suite } from "node:test";

import { runCelDifferential } from "./cel-differential.ts";
import { startOracle } from "./cluster.ts";
import { trialSettings } from "./differential.ts";
import { oracleTest } from "./oracle-test.ts";
import { describeTally } from "./schema-differential.ts";

suite("rules against the oracle", () => {
  oracleTest("rules hold, fail and break alike, and say the same", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const { seed, count } = trialSettings(60);
    const run = { client: oracle.client, seed, joined: count };
    const tally = await runCelDifferential(run, t.signal);
    t.diagnostic(describeTally("rules", seed, tally));
    assert.deepEqual(tally.differences, []);
    assert.ok(tally.cases > 1_000);
  });
});
