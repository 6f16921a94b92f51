#!/usr/bin/env node
// Writes `packages/apiserver/src/bootstrap/data/rbac.json`: the roles and bindings that a new cluster has.
//
//   npm run rbac:extract

import { join } from "node:path";

import type { JsonObject } from "@keelson/base";

import { startOracle, type Oracle } from "../cluster.ts";
import { writeData } from "../kinds/data-file.ts";

/** Where the data is committed. */
export const rbacFile = join(
  import.meta.dirname,
  "../../../packages/apiserver/src/bootstrap/data/rbac.json",
);

/** The kinds in the order in which they are made: a binding comes after its role. */
const kinds = [
  ["ClusterRole", "clusterroles"],
  ["ClusterRoleBinding", "clusterrolebindings"],
  ["Role", "roles"],
  ["RoleBinding", "rolebindings"],
] as const;

/** Starts an oracle and writes what it holds before anybody has done anything. */
export async function extractRbac(path: string, signal: AbortSignal): Promise<void> {
  await using oracle = await startOracle({}, signal);
  const objects: JsonObject[] = [];
  for (const [kind, plural] of kinds) objects.push(...(await listOf(oracle, kind, plural, signal)));
  writeData(path, objects);
}

async function listOf(
  oracle: Oracle,
  kind: string,
  plural: string,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const path = `/apis/rbac.authorization.k8s.io/v1/${plural}`;
  const { status, body } = await oracle.client.send({ path }, signal);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  const { items } = body as { readonly items: readonly JsonObject[] };
  return items.map((item) => ({ kind, ...withoutOrigin(item) }));
}

/** An object without what only its cluster knows. */
function withoutOrigin({ metadata, ...rest }: JsonObject): JsonObject {
  const own = metadata as JsonObject;
  const kept = ["name", "namespace", "labels", "annotations"].filter((key) => key in own);
  return { metadata: Object.fromEntries(kept.map((key) => [key, own[key] ?? null])), ...rest };
}

if (import.meta.main) {
  await extractRbac(rbacFile, AbortSignal.timeout(120_000));
  console.log(`The roles are in ${rbacFile}; read the diff.`);
}
