// The rules of core, apps and batch: the real server and ours must say the same of every case.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds } from "@keelson/kube";

import {
  oracleTest,
  runTrials,
  sharedLaboratory,
  trialSettings,
  type Trial,
} from "./differential.ts";
import { coreTables } from "./rules-core/core-tables.ts";
import { mutate } from "./rules-core/mutations.ts";
import { runningPodStep } from "./rules-core/running-pods.ts";
import { richObjects } from "./rules-core/rich-objects.ts";
import { podSubresourceCases } from "./rules-core/pod-subresource-cases.ts";
import { prepare, preparedPart } from "./rules-core/prepared.ts";
import { testCasesByHand } from "./rules-groups/by-hand.ts";
import { changed } from "./rules-groups/cases.ts";
import { Runner } from "./rules-groups/run.ts";
import { apiVersionOf, collectionPath } from "./kinds/paths.ts";

/** Plugins that change or refuse what the rules are asked about. */
const flags = [
  "--disable-admission-plugins=Priority,RuntimeClass,DefaultTolerationSeconds,StorageObjectInUseProtection,PersistentVolumeClaimResize,DefaultStorageClass,LimitRanger,ResourceQuota,TaintNodesByCondition,PodTopologyLabels",
];

suite("rules of core, apps and batch against the oracle", () => {
  const open = sharedLaboratory({ flags });

  testCasesByHand({ tables: [...coreTables, podSubresourceCases], open, compared: withoutUids });

  oracleTest("objects that are taken become what the real server makes of them", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const bodies = coreTables.flatMap(({ kind: name, fields, name: nameOf, create = [] }) => {
      const [group = "", version = "", own = ""] = name.split("/");
      const kind = kinds.find({ group, version, kind: own });
      if (kind === undefined) throw new Error(`no kind ${name}`);
      const metadata = {
        name: nameOf?.(0) ?? "case",
        ...(kind.isNamespaced ? { namespace: "lab-0" } : {}),
      };
      const base = { apiVersion: apiVersionOf(kind), kind: own, metadata };
      const rich = richObjects[name];
      return [
        ...create.map((change) => changed({ ...base, ...fields?.("case") }, change)),
        ...(rich === undefined ? [] : [{ ...base, ...rich }]),
      ].map((body) => ({ kind, body }));
    });
    const report = await runTrials(
      { title: "prepared", seed: 0, count: bodies.length, concurrency: 8 },
      async (_random, index, signal) => {
        const { kind, body } = bodies[index] ?? bodies[0] ?? { kind: undefined, body: {} };
        if (kind === undefined) throw new RangeError(`no body ${index}`);
        const path = collectionPath(kind, kind.isNamespaced ? "lab-0" : undefined);
        const answer = await laboratory.send(
          { method: "POST", path: `${path}?dryRun=All`, body },
          signal,
        );
        const { isAccepted, body: taken } = answer;
        const ours = isAccepted ? prepare(kinds, kind, body) : undefined;
        const theirs = isAccepted && taken !== undefined && isJsonObject(taken) ? taken : undefined;
        return {
          kind: `${kind.kind}.${kind.group}`,
          operation: "create",
          accepted: isAccepted,
          oracle: theirs && preparedPart(kind, theirs),
          ours: ours && preparedPart(kind, ours),
          context: body,
        };
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.1, "too few were taken");
  });

  /** What the generated objects start from: as rich as each kind likes. */
  const bases = coreTables.map(({ kind, fields }) => ({ kind, fields }));

  oracleTest("objects with anything in them are judged as the real server does", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const runner = new Runner(laboratory, kinds);
    const hangUps = new HangUps();
    const report = await runTrials(
      { title: "mutations", ...trialSettings(1500), concurrency: 8 },
      async (random, index, signal) => {
        const { kind: name, fields } = random.pick(bases);
        const [group = "", version = "", own = ""] = name.split("/");
        const kind = kinds.find({ group, version, kind: own });
        if (kind === undefined) throw new Error(`no kind ${name}`);
        const mutated = mutate(richObjects[name] ?? fields?.("case") ?? {}, {
          kinds,
          kind,
          random,
        });
        const cases = { kind: name, fields: () => mutated };
        const step = { cases, kind, operation: "create", change: {}, index } as const;
        const trial = await runner.run(step, signal).catch(hangUps.take);
        return inAnyOrder(withoutUids(trial));
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.2, "too few were taken");
    hangUps.assertFew(report.count);
  });

  /** Services that name their address cannot be made twice. */
  const changing = coreTables.filter(({ kind, update }) => kind !== "/v1/Service" || update);

  oracleTest("cases that are shaken are judged as the real server does", async (t) => {
    const laboratory = await open();
    const runner = new Runner(laboratory, await loadBuiltinKinds());
    const hangUps = new HangUps();
    const report = await runTrials(
      { title: "shaken cases", ...trialSettings(600), concurrency: 8 },
      async (random, _index, signal) => {
        return withoutUids(await runner.chance(random, changing, signal).catch(hangUps.take));
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.15, "too few were taken");
    hangUps.assertFew(report.count);
  });

  oracleTest("changes to anything are judged as the real server does", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const runner = new Runner(laboratory, kinds);
    const hangUps = new HangUps();
    const report = await runTrials(
      { title: "changes", ...trialSettings(400), concurrency: 8 },
      async (random, index, signal) => {
        const { kind: name, fields, name: nameOf } = random.pick(coreTables);
        const [group = "", version = "", own = ""] = name.split("/");
        const kind = kinds.find({ group, version, kind: own });
        if (kind === undefined) throw new Error(`no kind ${name}`);
        const base = withoutAddress(richObjects[name] ?? fields?.("case") ?? {});
        const after = mutate(base, { kinds, kind, random });
        const cases = { kind: name, fields: () => base, ...(nameOf && { name: nameOf }) };
        const change = { before: {}, after };
        const step = { cases, kind, operation: "update", change, index } as const;
        const trial = await runner.run(step, signal).catch(hangUps.take);
        return inAnyOrder(withoutUids(trial));
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.2, "too few were taken");
    hangUps.assertFew(report.count);
  });

  oracleTest("changes to pods that run are judged as the real server does", async (t) => {
    const laboratory = await open();
    const kinds = await loadBuiltinKinds();
    const kind = kinds.find({ group: "", version: "v1", kind: "Pod" });
    if (kind === undefined) throw new Error("no kind Pod");
    const runner = new Runner(laboratory, kinds);
    const report = await runTrials(
      { title: "running pods", ...trialSettings(300), concurrency: 8 },
      async (random, index, signal) => {
        const { operation, change, cases } = runningPodStep(kinds, random);
        const step = { cases, kind, operation, change, index } as const;
        return inAnyOrder(withoutUids(await runner.run(step, signal)));
      },
      t.signal,
    );
    t.diagnostic(`\n${report.toString()}`);
    report.assertExplained();
    assert.ok(report.acceptedShare > 0.1, "too few were taken");
  });
});

/** Objects that are really made need addresses of their own. */
function withoutAddress(object: JsonObject): JsonObject {
  const spec = object["spec"];
  if (spec === undefined || !isJsonObject(spec)) return object;
  const kept = Object.entries(spec).filter(([name]) => !/^(clusterIPs?|ipFamil.*)$/.test(name));
  return { ...object, spec: Object.fromEntries(kept) };
}

/**
 * A few objects make the real server panic, and it hangs up: an Indexed Job with a successPolicy and no completions. They are
 * counted, so that a server which hangs up on everybody does not pass.
 */
class HangUps {
  #count = 0;

  readonly take = (error: unknown): Trial => {
    const isMeant = error instanceof Error && Reflect.get(error, "code") === "ECONNRESET";
    if (!isMeant) throw error;
    this.#count += 1;
    const nothing = { verdict: "hung up", warnings: [] };
    return { kind: "any", operation: "none", accepted: false, oracle: nothing, ours: nothing };
  };

  assertFew(trials: number): void {
    assert.ok(this.#count <= trials / 100, `the server hung up on ${this.#count} of ${trials}`);
  }
}

/** The real server goes through maps in any order, so that only the set of causes can be compared. */
function inAnyOrder(trial: Trial): Trial {
  const [oracle, ours] = [trial.oracle, trial.ours].map((side): Json => {
    if (side === undefined || !isJsonObject(side)) return null;
    const { verdict = null, warnings = null } = side;
    if (!isJsonObject(verdict) || verdict["code"] !== 422) return { verdict, warnings };
    const causes = Array.isArray(verdict["causes"]) ? (verdict["causes"] as Cause[]) : [];
    const judged = causes.filter((cause) => !isOfGivenPort(cause, (trial.context ?? {}) as Sent));
    return { code: 422, causes: judged.map((cause) => JSON.stringify(cause)).toSorted() };
  });
  return { ...trial, oracle, ours };
}

interface Cause extends JsonObject {
  readonly field: string;
}

interface Sent {
  readonly sent?: { readonly spec?: { readonly ports?: readonly { readonly nodePort?: Json }[] } };
}

/** The server gives node ports before it judges, and one to all ports of a number: they are no business of rules, unless they were sent. */
function isOfGivenPort({ field }: Cause, { sent }: Sent): boolean {
  const [, index] = /^spec\.ports\[(\d+)\]\.nodePort$/.exec(field) ?? [];
  return index !== undefined && !sent?.spec?.ports?.[Number(index)]?.nodePort;
}

/**
 * Each side gives uids of its own. What is said on the way to a refusal nobody reads, of statuses the runner asks our
 * side nothing, and of versions on their way out the server speaks. Addresses, ports and times are the server's too.
 */
function withoutUids(trial: Trial): Trial {
  const [oracle, ours] = [trial.oracle, trial.ours].map(
    (side) =>
      JSON.parse(JSON.stringify(side ?? null).replaceAll(uid, "UID"), (name, value: unknown) =>
        given.has(name) ? undefined : value,
      ) as Json,
  );
  const spoken = [oracle, ours].map((side) => {
    if (side === undefined || !isJsonObject(side)) return side;
    const said = Array.isArray(side["warnings"]) ? (side["warnings"] as Json[]) : [];
    const isSpokenOf = trial.accepted && trial.operation !== "status";
    const warnings = said.filter((text) => isSpokenOf && !isAboutVersion(text));
    return { ...side, warnings };
  });
  return { ...trial, oracle: spoken[0], ours: spoken[1] };
}

/** What the server gives: addresses, ports and times. */
const given: ReadonlySet<string> = new Set([
  "nodePort",
  "healthCheckNodePort",
  "clusterIP",
  "clusterIPs",
  "ipFamilies",
  "ipFamilyPolicy",
  "lastPhaseTransitionTime",
]);

const uid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function isAboutVersion(text: Json): boolean {
  return typeof text === "string" && / is deprecated in v1\.\d+\+; /.test(text);
}
