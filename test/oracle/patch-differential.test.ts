// Patches and applies, generated from a seed: the real server and our rules must agree on every one.

import assert from "node:assert/strict";

import { startOracle } from "./cluster.ts";
import { trialSettings } from "./differential.ts";
import { prepareCluster, printDifference, runDifferential } from "./differential/run.ts";
import { oracleTest } from "./oracle-test.ts";

const casesDefault = 600;

oracleTest("patches and applies come out as the real server's", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  await prepareCluster(oracle.client, t.signal);
  const { seed, count: cases } = trialSettings(casesDefault);
  t.diagnostic(`seed ${seed}: npm run oracle:differential -- --cases ${cases} --seed ${seed}`);
  const { coverage, differences } = await runDifferential(oracle.client, { cases, seed }, t.signal);
  t.diagnostic(`\n${coverage.toString()}`);
  assert.deepEqual(differences.map(printDifference), []);
  assert.ok(coverage.acceptedShare >= 0.5, `only ${coverage.acceptedShare} were accepted`);
});
