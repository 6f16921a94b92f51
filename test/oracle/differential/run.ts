// Many random writes, compared. `npm run oracle:differential -- --cases 20000 --seed 7` runs it alone.

import { seededRandom, type Json, type JsonObject } from "@keelson/base";
import { customKindSchema, loadBuiltinKinds, type StructuralSchema } from "@keelson/kube";

import type { HttpClient } from "../../tools/http-client.ts";
import { apiVersionOf } from "../kinds/paths.ts";
import { until } from "../../tools/until.ts";
import { Coverage, type WriteType } from "./coverage.ts";
import { benchFor, judge, judgeCreate, pathOf, type Bench } from "./judge.ts";
import { publishedSchemas } from "./openapi-schemas.ts";
import { makeStep, type Step } from "./steps.ts";
import { blobDefinition, builtInSubjects, customSubjects, widgetDefinition } from "./subjects.ts";

const definitions = new Map<string, StructuralSchema>(
  [widgetDefinition, blobDefinition].map(({ spec }) => [
    spec.names.kind,
    spec.versions[0].schema.openAPIV3Schema,
  ]),
);
const workers = 6;
const stepsPerObject = 8;
/** Enough for more updaters than an object remembers. */
const stepsPerCrowdedObject = 24;

export interface RunOptions {
  readonly cases: number;
  readonly seed: string;
  /** Stop after this many differences. */
  readonly differencesMax?: number;
  /** Only kinds with such a name. */
  readonly kinds?: RegExp;
}

/** A case that came out differently. */
export interface Difference {
  readonly kind: string;
  readonly case: string;
  readonly step: Written;
  readonly before: Json;
  readonly found: readonly string[];
}

/** A step, or the creation before them. */
type Written = Omit<Step, "type"> & { readonly type: WriteType };

export interface RunResult {
  readonly coverage: Coverage;
  readonly differences: readonly Difference[];
}

/** Makes the custom kinds known and waits until they are served. */
export async function prepareCluster(client: HttpClient, signal: AbortSignal): Promise<void> {
  for (const body of [widgetDefinition, blobDefinition]) {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const response = await client.send({ method: "POST", path, body }, signal);
    if (response.status !== 201 && response.status !== 409) throw new Error(response.text);
  }
  for (const subject of customSubjects) {
    await until(async () => {
      const listed = await client.send({ path: pathOf(subject) }, signal);
      const schemas = await client.send({ path: "/openapi/v3" }, signal);
      return listed.status === 200 && schemas.text.includes("apis/diff.example.com/v1");
    }, signal);
  }
}

/** Runs at least `cases` writes of objects, some at a time, each on an object of its own. Where none can be created it ends after as many tries. */
export async function runDifferential(
  client: HttpClient,
  { cases, seed, differencesMax = 20, kinds = /./ }: RunOptions,
  signal: AbortSignal,
): Promise<RunResult> {
  const benches = (await makeBenches(client, signal)).filter(({ subject }) =>
    kinds.test(subject.kind),
  );
  const coverage = new Coverage();
  const differences: Difference[] = [];
  let object = 0;
  const work = async (): Promise<void> => {
    const isDone = (): boolean => coverage.cases >= cases || coverage.creations >= cases;
    while (!isDone() && differences.length < differencesMax) {
      object += 1;
      const bench = benches[object % benches.length];
      if (bench === undefined) return;
      await runObject(bench, { name: `case-${object}`, seed, coverage, differences }, signal);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { coverage, differences };
}

async function makeBenches(client: HttpClient, signal: AbortSignal): Promise<Bench[]> {
  const documents = new Map<string, Map<string, StructuralSchema>>();
  const kinds = await loadBuiltinKinds();
  const benches: Bench[] = [];
  for (const subject of [...builtInSubjects, ...customSubjects]) {
    const groupVersion = apiVersionOf(subject);
    let schemas = documents.get(groupVersion);
    if (schemas === undefined) {
      schemas = await publishedSchemas(client, groupVersion, signal);
      documents.set(groupVersion, schemas);
    }
    // Of custom kinds we know what their definitions say, and make the rest ourselves.
    const defined = definitions.get(subject.kind);
    const schema = defined === undefined ? schemas.get(subject.kind) : customKindSchema(defined);
    if (schema === undefined) throw new Error(`no schema of ${subject.kind}`);
    benches.push(benchFor(subject, { schema, kinds, client }));
  }
  return benches;
}

interface ObjectRun {
  readonly name: string;
  readonly seed: string;
  readonly coverage: Coverage;
  readonly differences: Difference[];
}

async function runObject(bench: Bench, run: ObjectRun, signal: AbortSignal): Promise<void> {
  const { subject } = bench;
  const random = seededRandom(`${run.seed}/${run.name}`);
  const made = subject.make(random);
  const body: JsonObject = {
    ...made,
    apiVersion: apiVersionOf(subject),
    kind: subject.kind,
    metadata: { ...(made["metadata"] as JsonObject), name: run.name },
  };
  const created = await judgeCreate(bench, body, signal);
  run.coverage.count(subject.kind, "create", created.accepted);
  const note = (step: Written, before: Json, found: readonly string[]): void => {
    if (found.length > 0) {
      run.differences.push({ kind: subject.kind, case: run.name, step, before, found });
    }
  };
  note(
    { type: "create", manager: "creator", force: false, subresource: "", body },
    null,
    created.differences,
  );
  if (created.crashed === true)
    run.coverage.crashes.push(`${subject.kind} create ${JSON.stringify(body)}`);
  if (!created.accepted) return;
  let { live } = created;
  const isCrowded = random.float() < 0.1;
  for (let i = 0; i < (isCrowded ? stepsPerCrowdedObject : stepsPerObject); i++) {
    const step = makeStep(subject, bench.schema, live, { random, isCrowded });
    const verdict = await judge(bench, live, step, signal);
    run.coverage.count(subject.kind, step.type, verdict.accepted);
    note(step, live, verdict.differences);
    if (verdict.crashed === true)
      run.coverage.crashes.push(`${subject.kind} ${step.type} ${JSON.stringify(step.body)}`);
    live = verdict.live;
  }
  await remove(bench, run.name, signal);
}

/** Away with it, finalizers or not. */
async function remove(
  { client, subject }: Bench,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf(subject, name);
  await client.send(
    {
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body: { metadata: { finalizers: null } },
    },
    signal,
  );
  await client.send({ method: "DELETE", path }, signal);
}

/** Differences as text, for a person to read. */
export function printDifference({ kind, case: name, step, before, found }: Difference): string {
  return [
    `${kind} ${name}: ${step.type}${step.subresource === "" ? "" : ` of ${step.subresource}`} by ${step.manager}${step.force ? ", forced" : ""}`,
    `body ${JSON.stringify(step.body)}`,
    `live ${JSON.stringify(before)}`,
    ...found,
  ].join("\n");
}
