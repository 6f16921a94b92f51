// Run by `npm run oracle:differential -- --cases N --seed S [--kinds PATTERN]`: the long comparison.

import { parseArgs } from "node:util";

import { startOracle } from "../cluster.ts";
import { prepareCluster, printDifference, runDifferential } from "./run.ts";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "2000" },
    seed: { type: "string", default: String(process.hrtime.bigint()) },
    kinds: { type: "string", default: "." },
    "differences-max": { type: "string", default: "20" },
  },
});
const { signal } = new AbortController();
await using oracle = await startOracle({}, signal);
await prepareCluster(oracle.client, signal);
const started = performance.now();
console.log(`seed ${values.seed}`);
const { coverage, differences } = await runDifferential(
  oracle.client,
  {
    cases: Number(values.cases),
    seed: values.seed,
    kinds: new RegExp(values.kinds),
    differencesMax: Number(values["differences-max"]),
  },
  signal,
);
for (const difference of differences) console.log(`\n${printDifference(difference)}`);
for (const crash of coverage.crashes) console.log(`\nno answer to ${crash}`);
console.log(`\n${coverage.toString()}`);
console.log(
  `${differences.length} differences in ${((performance.now() - started) / 1000).toFixed(0)} s`,
);
if (differences.length > 0) process.exitCode = 1;
