// The schemas that a running API server publishes, as the rules want them: a tree without references.

import type { StructuralSchema } from "@keelson/kube";

import type { HttpClient } from "../../tools/http-client.ts";

interface Published {
  readonly $ref?: string;
  readonly allOf?: readonly Published[];
  readonly items?: Published;
  readonly properties?: Readonly<Record<string, Published>>;
  readonly additionalProperties?: Published | boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
  readonly [key: string]: unknown;
}

/** The schemas of one group and version, by kind. */
export async function publishedSchemas(
  client: HttpClient,
  groupVersion: string,
  signal: AbortSignal,
): Promise<Map<string, StructuralSchema>> {
  const prefix = groupVersion.includes("/") ? "apis" : "api";
  const response = await client.send({ path: `/openapi/v3/${prefix}/${groupVersion}` }, signal);
  if (response.status !== 200) throw new Error(`no schemas of ${groupVersion}: ${response.text}`);
  const document = response.body as {
    readonly components: { readonly schemas: Readonly<Record<string, Published>> };
  };
  return new Resolver(document.components.schemas).byKind(groupVersion);
}

class Resolver {
  readonly #published: Readonly<Record<string, Published>>;
  readonly #resolved = new Map<string, Record<string, unknown>>();

  constructor(published: Readonly<Record<string, Published>>) {
    this.#published = published;
  }

  byKind(groupVersion: string): Map<string, StructuralSchema> {
    const kinds = new Map<string, StructuralSchema>();
    for (const [name, schema] of Object.entries(this.#published)) {
      for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
        if ((group === "" ? version : `${group}/${version}`) !== groupVersion) continue;
        kinds.set(kind, this.#named(name));
      }
    }
    return kinds;
  }

  /** One object for each name, made before its parts: a schema may contain itself. */
  #named(name: string): StructuralSchema {
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    const result: Record<string, unknown> = {};
    this.#resolved.set(name, result);
    if (name.endsWith(".api.resource.Quantity")) {
      result["format"] = "quantity";
    } else if (name.endsWith(".runtime.RawExtension")) {
      Object.assign(result, { type: "object", "x-kubernetes-map-type": "atomic" });
    } else {
      Object.assign(result, this.#inline(this.#published[name] ?? {}));
    }
    return result;
  }

  #inline(schema: Published): StructuralSchema {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (reference !== undefined) {
      const { $ref: _, allOf: __, description: ___, ...here } = schema;
      const named = this.#named(reference.slice(reference.lastIndexOf("/") + 1));
      const said = Object.keys(here).filter((key) => key !== "default");
      return said.length === 0 ? named : { ...named, ...here };
    }
    const { description: _, allOf: __, oneOf: ___, ...rest } = schema;
    const result: Record<string, unknown> = { ...rest };
    if (schema.properties !== undefined) {
      result["properties"] = Object.fromEntries(
        Object.entries(schema.properties).map(([key, value]) => [key, this.#inline(value)]),
      );
    }
    if (typeof schema.additionalProperties === "object") {
      result["additionalProperties"] = this.#inline(schema.additionalProperties);
    }
    if (schema.items !== undefined) result["items"] = this.#inline(schema.items);
    return result;
  }
}
