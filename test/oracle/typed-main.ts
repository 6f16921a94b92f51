// Run by `npm run oracle:differential -- --cases N --seed S`: the long comparison of typed bodies.

import { parseArgs } from "node:util";

import { loadBuiltinKinds } from "@keelson/kube";

import { loadKindExamples } from "../../packages/kube/src/kinds/builtin-kinds.ts";
import { Laboratory, runTrials, TrialReport } from "./differential.ts";
import { compareWithCompiled } from "./typed/compiled.ts";
import { everyKind } from "./every-kind.ts";
import { ServedComparison } from "./typed/served.ts";

const { values } = parseArgs({
  strict: false,
  options: { cases: { type: "string" }, seed: { type: "string" } },
});
const given = values["seed"];
const seed = typeof given === "string" ? given : String(process.hrtime.bigint());
const kinds = await loadBuiltinKinds();
const examples = await loadKindExamples();
/** At least a hundred of each kind, either way. */
const perKind = Math.max(100, Math.ceil(Number(values["cases"] ?? "2000") / kinds.all.length));

const decoded = new TrialReport("typed bodies, compiled", seed);
for (const trial of compareWithCompiled({ kinds, examples, seed, perKind })) {
  decoded.add(trial.index, trial);
}
const { signal } = new AbortController();
await using laboratory = await Laboratory.open({ namespaces: 1, flags: everyKind }, signal);
const comparison = await ServedComparison.open({ laboratory, kinds, examples }, signal);
const served = await runTrials(
  { title: "typed bodies, served", seed, count: perKind * comparison.kinds },
  async (random, index, signal) => await comparison.run(random, index, signal),
  signal,
);
for (const report of [decoded, served]) {
  console.log(`\n${report.toString()}`);
  try {
    report.assertExplained();
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
