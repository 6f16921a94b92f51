#!/usr/bin/env node
// Writes `packages/kube/src/kinds/data`: the built-in kinds, as the oracle shows them.
//
//   npm run kinds:extract

import { join } from "node:path";

import { shortTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import { startOracle, type Oracle } from "../cluster.ts";
import { everyKind } from "../every-kind.ts";
import { columnsOf } from "./columns.ts";
import { writeData } from "./data-file.ts";
import { boilDown } from "./defaults.ts";
import { discoverKinds, type DiscoveredKind, type GroupVersionKind } from "./discovery.ts";
import { fieldLabelsOf, labelCandidates } from "./field-labels.ts";
import { encodeObjects, probe } from "./go-types.ts";
import { minimalObjects } from "./minimal-objects.ts";
import {
  columnRecord,
  internalRecords,
  kindName,
  kindRecord,
  structRecords,
  switchRecord,
} from "./records.ts";
import { readSchemas, type RawSchema } from "./schemas.ts";
import { statusSample } from "./status-sample.ts";
import { Experiment, type Example } from "./switches.ts";

/** Where the data is committed. */
export const dataFolder = join(import.meta.dirname, "../../../packages/kube/src/kinds/data");

const namespace = "minimal";

/** Starts an oracle, asks it everything and writes the files into `folder`. */
export async function extractKinds(folder: string, signal: AbortSignal): Promise<void> {
  await using oracle = await startOracle({ flags: { "kube-apiserver": everyKind } }, signal);

  const discovered = await discoverKinds(oracle, signal);
  const { schemas, typeOfKind } = await readSchemas(oracle, signal);
  const roots = rootKinds(discovered);
  const { types, kinds: typeNames, defaults, places, internal } = probe(roots, schemas);
  const typeOf = new Map(
    roots.map((kind, index) => [kindName(kind), shortTypeName(typeNames[index] ?? "")]),
  );
  for (const [kind, type] of typeOf) {
    const published = typeOfKind.get(kind) ?? type;
    if (published !== type) throw new Error(`OpenAPI says ${kind} is ${published}, not ${type}`);
  }

  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await oracle.client.send({ method: "POST", path: "/api/v1/namespaces", body }, signal);
  const kinds: unknown[] = [];
  const examples = new Map<string, Example>();
  for (const kind of discovered) {
    const type = typeOf.get(kindName(kind)) ?? "";
    const { record, example } = await examine({ oracle, kind, type, schemas }, signal);
    kinds.push({ ...kindRecord(kind, typeOf), ...record });
    if (example !== undefined) examples.set(kindName(kind), example);
  }
  const encoded = encodeObjects([...examples.values()].map(({ got }) => got));
  const complete = [...examples].map(
    ([name, example], index) => [name, { ...example, protobuf: encoded[index] }] as const,
  );

  writeData(join(folder, "kinds.json"), kinds);
  writeData(join(folder, "schemas.json"), schemas);
  writeData(join(folder, "structs.json"), structRecords(types));
  writeData(join(folder, "defaults.json"), boilDown(defaults, places));
  writeData(join(folder, "internal-structs.json"), internalRecords(internal));
  writeData(join(folder, "examples.json"), new Map(complete));
}

interface Subject {
  readonly oracle: Oracle;
  readonly kind: DiscoveredKind;
  readonly type: string;
  readonly schemas: ReadonlyMap<string, RawSchema>;
}

/** What only requests can tell of a kind. */
async function examine({ oracle, kind, type, schemas }: Subject, signal: AbortSignal) {
  const labels = await fieldLabelsOf(oracle, kind, labelCandidates(type, schemas), signal);
  const columns = await columnsOf(oracle, kind, signal);
  const record = {
    ...(columns === undefined ? {} : { columns: columns.map(columnRecord) }),
    ...(labels.length === 0 ? {} : { fieldLabels: labels }),
  };
  const minimal = minimalObjects[kindName(kind)];
  if (minimal === undefined) {
    const isStored = kind.verbs.includes("create") && kind.verbs.includes("get");
    if (isStored) throw new Error(`minimal-objects.ts has no ${kindName(kind)}`);
    return { record, example: undefined };
  }
  const status = minimal.status ?? statusSample(type, schemas);
  const experiment = new Experiment({ oracle, kind, minimal, namespace, status });
  const example = await experiment.example(signal);
  const switches = switchRecord(await experiment.switches(signal));
  return { record: { ...record, switches }, example };
}

/** Kinds whose types we want: those of resources and of the bodies of their subresources. */
function rootKinds(discovered: readonly DiscoveredKind[]): GroupVersionKind[] {
  const all = discovered.flatMap(({ group, version, kind, subresources }) => [
    { group, version, kind },
    ...subresources.map((subresource) => subresource.kind),
  ]);
  // Parameters of proxy, attach and the like are no objects.
  const objects = all.filter(({ kind }) => !kind.endsWith("Options"));
  return [...new Map(objects.map((kind) => [kindName(kind), kind])).values()];
}

if (import.meta.main) {
  await extractKinds(dataFolder, AbortSignal.timeout(600_000));
  console.log(`The kinds are in ${dataFolder}; read the diff.`);
}
