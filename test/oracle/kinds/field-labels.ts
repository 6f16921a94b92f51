// Which fields a field selector may name: found by trying all that could be meant.

import { forEachAtOnce } from "@keelson/base";

import type { Oracle } from "../cluster.ts";
import type { DiscoveredKind } from "./discovery.ts";
import { collectionPath } from "./paths.ts";
import type { RawSchema } from "./schemas.ts";

const depthMax = 3;
const concurrencyMax = 16;

/** Known to every kind; not worth saying. */
const universal = new Set(["metadata.name", "metadata.namespace"]);

/** Besides `metadata.name` and `metadata.namespace`. */
export async function fieldLabelsOf(
  oracle: Oracle,
  kind: DiscoveredKind,
  candidates: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!kind.verbs.includes("list")) return [];
  const found: string[] = [];
  const tryOne = async (path: string, within: AbortSignal): Promise<void> => {
    const query = new URLSearchParams({ fieldSelector: `${path}=x`, limit: "1" });
    const target = `${collectionPath(kind)}?${query.toString()}`;
    const { status } = await oracle.client.send({ path: target }, within);
    if (status === 200) found.push(path);
  };
  const paths = candidates.filter((path) => !universal.has(path));
  await forEachAtOnce(paths, { atOnce: concurrencyMax, run: tryOne }, signal);
  return found.sort();
}

/** Paths of the scalars in a type, lists and maps left out. Some labels are no fields at all. */
export function labelCandidates(
  type: string,
  schemas: ReadonlyMap<string, RawSchema>,
): readonly string[] {
  const walk = (schema: RawSchema | undefined, prefix: string, depth: number): string[] => {
    const properties = (schema?.["properties"] ?? {}) as Record<string, RawSchema>;
    return Object.entries(properties).flatMap(([name, property]) => {
      const path = `${prefix}${name}`;
      const reference = property["$ref"] as string | undefined;
      if (reference === undefined) return isScalar(property) ? [path] : [];
      const target = schemas.get(reference);
      if (target?.["type"] !== "object") return [path];
      return depth === depthMax ? [] : walk(target, `${path}.`, depth + 1);
    });
  };
  const own = walk(schemas.get(type), "", 1);
  return [...new Set([...own, "source", "reportingComponent", "status.podIPs", "reason"])];
}

function isScalar({ type }: RawSchema): boolean {
  return type === "string" || type === "integer" || type === "boolean" || type === undefined;
}
