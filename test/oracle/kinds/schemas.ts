// The schemas of all types, from the oracle's OpenAPI documents.

import { shortTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import type { Oracle } from "../cluster.ts";

/** A JSON schema as OpenAPI has it. `$ref` may have siblings here, which win over what it names. */
export type RawSchema = Readonly<Record<string, unknown>>;

export interface OpenApiFindings {
  /** By short type name. */
  readonly schemas: ReadonlyMap<string, RawSchema>;
  /** The type of each kind that has one, by `group/version/kind`. */
  readonly typeOfKind: ReadonlyMap<string, string>;
}

/** Reads every document. The same type in two of them must have the same schema. */
export async function readSchemas(oracle: Oracle, signal: AbortSignal): Promise<OpenApiFindings> {
  const index = await oracle.client.send({ path: "/openapi/v3" }, signal);
  const { paths } = JSON.parse(index.text) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const schemas = new Map<string, RawSchema>();
  const typeOfKind = new Map<string, string>();
  const versioned = Object.entries(paths).filter(([path]) => /^apis?\/(.*\/)?v\d/.test(path));
  for (const [, { serverRelativeURL }] of versioned) {
    const { text } = await oracle.client.send({ path: serverRelativeURL }, signal);
    const { components } = JSON.parse(text) as {
      components: { schemas: Record<string, RawSchema> };
    };
    for (const [longName, raw] of Object.entries(components.schemas)) {
      const name = shortTypeName(longName);
      const schema = simplify(raw) as RawSchema;
      const known = schemas.get(name);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
        throw new Error(`two documents disagree about ${name}`);
      }
      schemas.set(name, schema);
      const kinds = raw["x-kubernetes-group-version-kind"] as KindOfSchema[] | undefined;
      // Options kinds are registered in every group; they have no type of their own there.
      if (kinds?.length !== 1) continue;
      for (const { group, version, kind } of kinds) {
        typeOfKind.set(`${group}/${version}/${kind}`, name);
      }
    }
  }
  return { schemas, typeOfKind };
}

interface KindOfSchema {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Drops prose and what our kinds say elsewhere; `allOf` with one reference becomes the reference. */
function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const simple: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === "description" && typeof inner === "string") continue;
    if (key === "x-kubernetes-group-version-kind") continue;
    if (key === "properties") {
      // A property may be called `description`, too.
      const properties = Object.entries(inner as Record<string, unknown>);
      simple[key] = Object.fromEntries(properties.map(([name, one]) => [name, simplify(one)]));
    } else if (key === "$ref") {
      simple[key] = shortTypeName((inner as string).replace("#/components/schemas/", ""));
    } else if (key === "allOf" && Array.isArray(inner) && inner.length === 1) {
      Object.assign(simple, simplify(inner[0]));
    } else {
      simple[key] = key === "default" || key === "enum" ? inner : simplify(inner);
    }
  }
  return simple;
}
