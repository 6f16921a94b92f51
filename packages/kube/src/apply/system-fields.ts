// What the server says of every object, and nobody owns.

import { FieldSet } from "./field-set.ts";
import type { Ignored } from "./owns-exactly.ts";

const ofObject = ["apiVersion", "kind"] as const;
const ofMetadata = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
] as const;

/** The fields that no manager's set has. */
export const systemFields: FieldSet = FieldSet.of(
  ...ofObject.map((name) => [name]),
  ["metadata"],
  ...ofMetadata.map((name) => ["metadata", name]),
);

/** The same, and fields of the whole object that a write cannot change. */
export function ignoredFields(reset: FieldSet | undefined): Ignored {
  const names = new Set<string>(ofObject);
  for (const [name, node] of reset?.fields ?? []) if (node.isMember) names.add(name);
  const metadata: Ignored = { names: new Set<string>(ofMetadata), inside: new Map() };
  return { names, inside: new Map([["metadata", metadata]]) };
}

/** Whether `ignoredFields` says all of what a write cannot change. */
export function isPlainReset(reset: FieldSet | undefined): boolean {
  if (reset === undefined) return true;
  for (const node of reset.fields.values()) if (node.children !== undefined) return false;
  return reset.items.size === 0;
}
