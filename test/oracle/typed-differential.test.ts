import assert from "node:assert/strict";
import { suite } from "node:test";

import { loadBuiltinKinds } from "@keelson/kube";

import { loadKindExamples } from "../../packages/kube/src/kinds/builtin-kinds.ts";
import { oracleTest, TrialReport, trialSettings } from "./differential.ts";
import { compareWithCompiled } from "./typed/compiled.ts";

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
});
