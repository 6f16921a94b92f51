// The rules of core, apps and batch: the real server and ours must say the same of every case.

import { isJsonObject, type Json } from "@keelson/base";
import { loadBuiltinKinds, type BuiltinKind } from "@keelson/kube";

import { Laboratory, oracleTest, runTrials, trialSettings, type Trial } from "./differential.ts";
import { coreTables } from "./rules-core/core-tables.ts";
import { mutate } from "./rules-core/mutations.ts";
import { richObjects } from "./rules-core/rich-objects.ts";
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

/** What the generated objects start from: as rich as each kind likes. */
const bases = coreTables.map(({ kind, fields }) => ({ kind, fields }));

oracleTest("objects with anything in them are judged as the real server does", async (t) => {
  await using laboratory = await Laboratory.open({ flags }, t.signal);
  const kinds = await loadBuiltinKinds();
  const runner = new Runner(laboratory, kinds);
  const report = await runTrials(
    { title: "mutations", ...trialSettings(1500), concurrency: 8 },
    async (random, index, signal) => {
      const { kind: name, fields } = random.pick(bases);
      const [group = "", version = "", own = ""] = name.split("/");
      const kind = kinds.find({ group, version, kind: own });
      if (kind === undefined) throw new Error(`no kind ${name}`);
      const mutated = mutate(richObjects[name] ?? fields?.("case") ?? {}, { kinds, kind, random });
      const cases = { kind: name, fields: () => mutated };
      const step = { cases, kind, operation: "create", change: {}, index } as const;
      return inAnyOrder(comparable(await runner.run(step, signal)));
    },
    t.signal,
  );
  t.diagnostic(`\n${report.toString()}`);
  report.assertExplained();
});

/** The real server goes through maps in any order, so that only the set of causes can be compared. */
function inAnyOrder(trial: Trial): Trial {
  const [oracle, ours] = [trial.oracle, trial.ours].map((side): Json => {
    if (side === undefined || !isJsonObject(side)) return null;
    const { verdict = null, warnings = null } = side;
    if (!isJsonObject(verdict) || verdict["code"] !== 422) return { verdict, warnings };
    const causes = Array.isArray(verdict["causes"]) ? (verdict["causes"] as Json[]) : [];
    return { code: 422, causes: causes.map((cause) => JSON.stringify(cause)).toSorted() };
  });
  return { ...trial, oracle, ours };
}

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
