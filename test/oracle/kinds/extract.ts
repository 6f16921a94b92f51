#!/usr/bin/env node
// Writes `packages/kube/src/kinds/data`: the built-in kinds, as the oracle shows them.
//
//   npm run kinds:extract

import { join } from "node:path";

import { shortTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import { startOracle, type Oracle } from "../cluster.ts";
import { columnsOf, type Column } from "./columns.ts";
import { writeData } from "./data-file.ts";
import { boilDown } from "./defaults.ts";
import { discoverKinds, type DiscoveredKind } from "./discovery.ts";
import { probe, type GoType } from "./go-types.ts";
import { readSchemas } from "./schemas.ts";

/**
 * Besides what is on by default: kinds of the generic control plane that are not, or not yet, in a
 * stable version.
 */
const versions = [
  "coordination.k8s.io/v1beta1",
  "certificates.k8s.io/v1beta1",
  "internal.apiserver.k8s.io/v1alpha1",
  "storagemigration.k8s.io/v1beta1",
];
const features = ["ClusterTrustBundle", "StorageVersionMigrator"];
const flags = {
  "kube-apiserver": [
    `--runtime-config=${versions.map((version) => `${version}=true`).join(",")}`,
    `--feature-gates=${features.map((feature) => `${feature}=true`).join(",")}`,
  ],
};

/** Every standard verb: what most kinds have, and then leave out in the data. */
const standardVerbs = "create,delete,deletecollection,get,list,patch,update,watch";

const folder = join(import.meta.dirname, "../../../packages/kube/src/kinds/data");

const signal = AbortSignal.timeout(600_000);
await using oracle = await startOracle({ flags }, signal);
await extract(oracle);

async function extract(oracle: Oracle): Promise<void> {
  const discovered = await discoverKinds(oracle, signal);
  const { schemas, typeOfKind } = await readSchemas(oracle, signal);
  const roots = rootKinds(discovered);
  const { types, kinds: typeNames, defaults, places } = probe(roots, schemas);
  const typeOf = new Map(
    roots.map((kind, index) => [nameOf(kind), shortTypeName(typeNames[index] ?? "")]),
  );

  const kinds = await Promise.all(
    discovered.map(async (kind) => ({
      ...kindRecord(kind, typeOf),
      columns: (await columnsOf(oracle, kind, signal))?.map(columnRecord),
    })),
  );
  for (const [kind, type] of typeOf) {
    const published = typeOfKind.get(kind);
    if (published !== undefined && published !== type) throw new Error(`${kind} is ${published}`);
  }

  writeData(join(folder, "kinds.json"), kinds);
  writeData(join(folder, "schemas.json"), schemas);
  writeData(join(folder, "structs.json"), structRecords(types));
  writeData(join(folder, "defaults.json"), boilDown(defaults, places));
  console.log(`${kinds.length} kinds, ${schemas.size} schemas, ${Object.keys(types).length} types`);
}

/** Kinds whose types we want: those of resources and of the bodies of their subresources. */
function rootKinds(discovered: readonly DiscoveredKind[]) {
  const all = discovered.flatMap(({ group, version, kind, subresources }) => [
    { group, version, kind },
    ...subresources.map((subresource) => subresource.kind),
  ]);
  // Parameters of proxy, attach and the like are no objects.
  const objects = all.filter(({ kind }) => !kind.endsWith("Options"));
  return [...new Map(objects.map((kind) => [nameOf(kind), kind])).values()];
}

function nameOf({
  group,
  version,
  kind,
}: {
  group: string;
  version: string;
  kind: string;
}): string {
  return `${group}/${version}/${kind}`;
}

/** What is usual is left out; `packages/kube/src/kinds/README.md` says what that is. */
function kindRecord(kind: DiscoveredKind, typeOf: ReadonlyMap<string, string>) {
  const { group, version, singular, shortNames, categories, namespaced, verbs } = kind;
  return {
    group,
    version,
    kind: kind.kind,
    plural: kind.plural,
    ...(singular === kind.kind.toLowerCase() ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(namespaced ? {} : { namespaced }),
    ...(verbs.join(",") === standardVerbs ? {} : { verbs }),
    type: typeOf.get(nameOf(kind)),
    storageVersionHash: kind.storageVersionHash,
    ...(kind.subresources.length === 0
      ? {}
      : {
          subresources: kind.subresources.map(({ name, verbs, kind }) => ({
            name,
            ...kind,
            verbs,
            type: typeOf.get(nameOf(kind)),
          })),
        }),
  };
}

function columnRecord({ name, type, format, priority }: Column) {
  return {
    name,
    type,
    ...(format === "" ? {} : { format }),
    ...(priority === 0 ? {} : { priority }),
  };
}

/** A struct is a list of `[name, number, type, mark]`; see the README of the data. */
function structRecords(types: Readonly<Record<string, GoType>>): Map<string, unknown> {
  const records = Object.entries(types).map(([name, { fields = [], opaque, element }]) => {
    const list = fields.map(({ name, proto, number = 0, type, always, inline }) => {
      const mark = inline === true ? "inline" : always === true ? "always" : undefined;
      const field = [name === "" ? (proto ?? "") : name, number, shortenTypes(type)];
      return mark === undefined ? field : [...field, mark];
    });
    const record = {
      ...(opaque === true ? { opaque } : {}),
      ...(element === undefined ? {} : { element: shortenTypes(element) }),
      ...(element === undefined ? { fields: list } : {}),
    };
    return [shortTypeName(name), record] as const;
  });
  return new Map(records);
}

function shortenTypes(expression: string): string {
  return expression.replace(/io\.k8s\.[\w.-]+$/, shortTypeName);
}
