// The schemas of built-in types as OpenAPI publishes them.

import type { Json, JsonObject } from "@keelson/base";
import { openApiTypeName, type BuiltinKinds } from "@keelson/kube";

import { discoverySchemas } from "./discovery-schemas.ts";
import type { Dialect } from "./custom-schemas.ts";
import type { KindOfOperation } from "./operation.ts";

type SchemaRecord = BuiltinKinds["schemas"][string];

/** A schema as its document has it, and what it names. */
interface Published {
  readonly text: string;
  readonly references: readonly string[];
}

/** Looks up built-in types by the names under which OpenAPI publishes them. Each is written once for a dialect. */
export class BuiltinSchemas {
  readonly #schemas: BuiltinKinds["schemas"];
  readonly #shortNames: ReadonlyMap<string, string>;
  readonly #kinds: ReadonlyMap<string, KindOfOperation>;
  readonly #published = new Map<Dialect, Map<string, Published>>();

  constructor(kinds: BuiltinKinds) {
    this.#schemas = { ...kinds.schemas, ...discoverySchemas };
    this.#shortNames = new Map(
      Object.keys(this.#schemas).map((name) => [openApiTypeName(name), name]),
    );
    this.#kinds = kindsOfTypes(kinds);
  }

  /**
   * The schemas of these types and of all types that they name, as JSON. Some types are of every group: they carry the
   * kinds that `everywhere` gives.
   */
  collect(
    names: Iterable<string>,
    dialect: Dialect,
    everywhere: readonly KindOfOperation[],
  ): Map<string, string> {
    const found = new Map<string, string>();
    const waiting = [...names];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const short = this.#shortNames.get(name);
      if (short === undefined || found.has(name)) continue;
      const { text, references } = this.#publish(short, dialect);
      const kinds = this.#kindsOf(short, everywhere);
      const mark = `"x-kubernetes-group-version-kind":${JSON.stringify(kinds)}`;
      found.set(name, kinds.length === 0 ? text : `${text.slice(0, -1)},${mark}}`);
      waiting.push(...references);
    }
    return found;
  }

  #publish(type: string, dialect: Dialect): Published {
    const known = this.#published.get(dialect)?.get(type);
    if (known !== undefined) return known;
    const references: string[] = [];
    const reference = (named: string): string => {
      const long = openApiTypeName(named);
      references.push(long);
      return dialect.reference(long);
    };
    const record = this.#schemas[type] ?? {};
    const schema = publish(record, { isV2: dialect.isV2, reference });
    const published = { text: JSON.stringify(schema), references: [...new Set(references)] };
    const ofDialect = this.#published.get(dialect) ?? new Map<string, Published>();
    this.#published.set(dialect, ofDialect.set(type, published));
    return published;
  }

  #kindsOf(type: string, everywhere: readonly KindOfOperation[]): readonly KindOfOperation[] {
    const ofEveryGroup = everyGroup.get(type);
    if (ofEveryGroup !== undefined) {
      return everywhere.map(({ group, version }) => ({ group, version, kind: ofEveryGroup }));
    }
    const kind = this.#kinds.get(type);
    return kind === undefined ? [] : [kind];
  }
}

const everyGroup: ReadonlyMap<string, string> = new Map([
  ["meta.v1.DeleteOptions", "DeleteOptions"],
  ["meta.v1.WatchEvent", "WatchEvent"],
]);

/** Kinds that no resource has. */
const unserved: readonly KindOfOperation[] = [
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "Status",
].map((kind) => ({ group: "", version: "v1", kind }));

function kindsOfTypes({ all }: BuiltinKinds): Map<string, KindOfOperation> {
  const kinds = new Map<string, KindOfOperation>();
  for (const { group, version, kind, type, listKind, subresources } of all) {
    kinds.set(type, { group, version, kind });
    if (listKind !== undefined) kinds.set(`${type}List`, { group, version, kind: listKind });
    for (const body of subresources) {
      if (body.type === undefined) continue;
      kinds.set(body.type, { group: body.group, version: body.version, kind: body.kind });
    }
  }
  for (const kind of unserved) kinds.set(`meta.v1.${kind.kind}`, kind);
  return kinds;
}

/** Undoes what `schemas.json` does to a schema; for OpenAPI v2 also takes out what that cannot say. */
function publish(record: SchemaRecord, dialect: Dialect): JsonObject {
  const { $ref: reference, properties, items, additionalProperties, ...rest } = record;
  const published: Record<string, Json> = { ...(rest as JsonObject) };
  if (dialect.isV2) reduceToV2(published);
  if (reference !== undefined) {
    const target = { $ref: dialect.reference(reference) };
    if (dialect.isV2 || Object.keys(published).length === 0) Object.assign(published, target);
    else published["allOf"] = [target]; // A reference stands alone; others read nothing beside it.
  }
  if (properties !== undefined) {
    published["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, publish(part, dialect)]),
    );
  }
  if (items !== undefined) published["items"] = publish(items, dialect);
  if (additionalProperties !== undefined) {
    published["additionalProperties"] =
      typeof additionalProperties === "object"
        ? publish(additionalProperties, dialect)
        : additionalProperties;
  }
  return published;
}

function reduceToV2(schema: Record<string, Json>): void {
  delete schema["default"];
  // Of several forms the older description knows the text.
  if (schema["oneOf"] !== undefined) schema["type"] = "string";
  delete schema["oneOf"];
}
