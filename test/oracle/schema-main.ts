// Run by `npm run oracle:differential -- --cases N --seed S`: the long comparison of schemas, rules and tables.

import { parseArgs } from "node:util";

import { runCelDifferential } from "./cel-differential.ts";
import { startOracle } from "./cluster.ts";
import {
  describeTally,
  runSchemaDifferential,
  runUpdateDifferential,
  type SchemaTally,
} from "./schema-differential.ts";
import { runValidityDifferential } from "./schema-validity.ts";

const { values } = parseArgs({
  strict: false,
  options: { cases: { type: "string" }, seed: { type: "string" } },
});
const cases = Number(values["cases"] ?? "2000");
const given = values["seed"];
const seed = typeof given === "string" ? given : String(process.hrtime.bigint());
const { signal } = new AbortController();
await using oracle = await startOracle({}, signal);
const { client } = oracle;
console.log(`schemas: seed ${seed}`);

/** Half of the cases are created, a quarter changed, a quarter are schemas. */
const runs: readonly (readonly [title: string, run: () => Promise<SchemaTally>])[] = [
  ["create", () => runSchemaDifferential({ client, seed, cases: cases / 2 }, signal)],
  ["update", () => runUpdateDifferential({ client, seed, cases: cases / 4 }, signal)],
  ["schemas", () => runValidityDifferential({ client, seed, cases: cases / 4 }, signal)],
  ["rules", () => runCelDifferential(client, "long", signal)],
];
for (const [title, run] of runs) {
  const tally = await run();
  for (const difference of tally.differences) console.log(`\n${difference}`);
  console.log(describeTally(title, seed, tally));
  if (tally.differences.length > 0) process.exitCode = 1;
}
