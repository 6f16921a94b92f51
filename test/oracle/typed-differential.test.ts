import assert from "node:assert/strict";
import { suite } from "node:test";

import { readJson, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, sentKindProblem } from "@keelson/kube";

import { loadKindExamples } from "../../packages/kube/src/kinds/builtin-kinds.ts";
import { Laboratory, oracleTest, runTrials, TrialReport, trialSettings } from "./differential.ts";
import { compareWithCompiled } from "./typed/compiled.ts";
import { otherKinds } from "./typed/sent-kinds.ts";
import { everyKind } from "./every-kind.ts";
import { ServedComparison } from "./typed/served.ts";

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

  oracleTest("bodies of other kinds are refused with the same words", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    for (const [path, bodies] of otherKinds) {
      const [, group = "", version, , plural] =
        /^\/apis?(?:\/([^/]*\D[^/]*))??\/(v\d\w*)\/(namespaces\/lab-0\/)?(\w+)$/.exec(path) ?? [];
      const target = kinds.all.find(
        (kind) => kind.group === group && kind.version === version && kind.plural === plural,
      );
      assert.ok(target !== undefined, path);
      for (const text of bodies) {
        const request = { method: "POST", path: `${path}?dryRun=All`, body: text } as const;
        const { status, body } = await laboratory.send(request, t.signal);
        const message = status === 400 ? (body as JsonObject)["message"] : undefined;
        const sent = { value: readJson(text), bytes: new TextEncoder().encode(text) };
        assert.equal(sentKindProblem(kinds, target, sent), message, text);
      }
    }
  });
});
