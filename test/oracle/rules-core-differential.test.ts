// The rules of core, apps and batch: the real server and ours must say the same of every case.

import type { Json } from "@keelson/base";
import { loadBuiltinKinds, type BuiltinKind } from "@keelson/kube";

import { Laboratory, oracleTest, runTrials, type Trial } from "./differential.ts";
import { coreTables } from "./rules-core/core-tables.ts";
import { Runner, stepsOf } from "./rules-groups/run.ts";

/** Plugins that change or refuse what the rules are asked about. */
const flags = [
  "--disable-admission-plugins=Priority,RuntimeClass,DefaultTolerationSeconds,StorageObjectInUseProtection,PersistentVolumeClaimResize,DefaultStorageClass,LimitRanger,ResourceQuota,TaintNodesByCondition,PodTopologyLabels",
];

oracleTest("cases by hand are judged as the real server does", async (t) => {
  await using laboratory = await Laboratory.open({ flags }, t.signal);
  const kinds = await loadBuiltinKinds();
  const find = (name: string): BuiltinKind => {
    const [group = "", version = "", kind = ""] = name.split("/");
    const found = kinds.find({ group, version, kind });
    if (found === undefined) throw new Error(`no kind ${name}`);
    return found;
  };
  const only = process.env["ORACLE_KIND"];
  const steps = stepsOf(coreTables, find).filter(
    ({ kind }) => only === undefined || only.split(",").includes(kind.kind),
  );
  const runner = new Runner(laboratory, kinds);
  const report = await runTrials(
    { title: "cases", seed: 0, count: steps.length, concurrency: 8 },
    async (_random, index, signal) => {
      const step = steps[index];
      if (step === undefined) throw new RangeError(`no step ${index}`);
      return comparable(await runner.run(step, signal));
    },
    t.signal,
  );
  t.diagnostic(`\n${report.toString()}`);
  report.assertExplained();
});

/**
 * Each side gives uids of its own. What is said on the way to a refusal nobody reads, of statuses the runner asks our
 * side nothing, and of versions on their way out the server speaks.
 */
function comparable(trial: Trial): Trial {
  const uid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const isSpokenOf = trial.accepted && trial.operation !== "status";
  const [oracle, ours] = [trial.oracle, trial.ours].map((side) => {
    const text = JSON.stringify(side ?? null).replaceAll(uid, "UID");
    const own = JSON.parse(text) as { readonly verdict: Json; readonly warnings: string[] };
    const said = own.warnings.filter((warning) => !/ is deprecated in v1\.\d+\+; /.test(warning));
    return { verdict: own.verdict, warnings: isSpokenOf ? said : [] };
  });
  return { ...trial, oracle, ours };
}
