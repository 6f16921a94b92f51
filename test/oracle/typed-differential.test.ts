import assert from "node:assert/strict";
import { suite } from "node:test";

import { loadBuiltinKinds } from "@keelson/kube";

import { loadKindExamples } from "../../packages/kube/src/kinds/builtin-kinds.ts";
import { Laboratory, oracleTest, runTrials, TrialReport, trialSettings } from "./differential.ts";
import { compareWithCompiled } from "./typed/compiled.ts";
import { everyKind, ServedComparison } from "./typed/served.ts";

const kinds = await loadBuiltinKinds();
const examples = await loadKindExamples();

suite("typed kinds against the oracle", () => {
  oracleTest("bodies are decoded, defaulted and stored as by the compiled server", async (t) => {
    const { seed, count, only } = trialSettings(1_500);
    const perKind = Math.ceil(count / kinds.all.length);
    const report = new TrialReport("typed", seed);
    const trials = compareWithCompiled({ kinds, examples, seed, perKind, only });
    for (const trial of trials) report.add(trial.index, trial);
    t.diagnostic(report.toString());
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.6);
    await Promise.resolve();
  });

  oracleTest("bodies sent to the server are answered and refused alike", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1, flags: everyKind }, t.signal);
    const comparison = await ServedComparison.open({ laboratory, kinds, examples }, t.signal);
    const report = await runTrials(
      { title: "typed bodies, served", ...trialSettings(1_200) },
      async (random, index, signal) => await comparison.run(random, index, signal),
      t.signal,
    );
    t.diagnostic(report.toString());
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.3);
  });
});
