// The built-in kinds, loaded when somebody asks.

import type { Json } from "@keelson/base";

import type { StructuralSchema } from "../schema/structural.ts";
import { completeKind, type BuiltinKind, type KindRecord } from "./builtin-kind.ts";
import { completeStruct, type GoStruct, type StructRecord } from "./go-struct.ts";
import { SchemaGraph, type SchemaRecord } from "./schema-graph.ts";

/** What defaulting adds to a struct of some type, or at some place. */
export interface Defaults {
  /** Fields that an empty struct gets. `"$now"` stands for the time of the request. */
  readonly added: Readonly<Record<string, Json>>;
  /**
   * One field set to one value, and the fields that are then added with another value, or, where it is
   * null, not added. Found by trying single fields: what depends on two at once is not here.
   */
  readonly when: readonly {
    readonly field: string;
    readonly value: Json;
    readonly added: Readonly<Record<string, Json>>;
  }[];
}

/** Everything known of the built-in kinds. What it returns is shared: never change it. */
export class BuiltinKinds {
  /** In the order of discovery. */
  readonly all: readonly BuiltinKind[];
  readonly #byName: ReadonlyMap<string, BuiltinKind>;
  readonly #bodyTypes: ReadonlyMap<string, string>;
  readonly #structs: Readonly<Record<string, StructRecord>>;
  readonly #defaults: Readonly<Record<string, Partial<Defaults>>>;
  readonly #schemas: Readonly<Record<string, SchemaRecord>>;
  readonly #graph: SchemaGraph;
  readonly #completed = new Map<string, GoStruct>();

  constructor({ kinds, schemas, structs, defaults }: KindsData) {
    this.all = kinds.map(completeKind);
    this.#byName = new Map(this.all.map((kind) => [nameOf(kind), kind]));
    this.#bodyTypes = new Map(
      this.all
        .flatMap(({ subresources }) => subresources)
        .flatMap((body) => (body.type === undefined ? [] : [[nameOf(body), body.type] as const])),
    );
    this.#schemas = schemas;
    this.#graph = new SchemaGraph(schemas);
    this.#structs = structs;
    this.#defaults = defaults;
  }

  find(name: KindName): BuiltinKind | undefined {
    return this.#byName.get(nameOf(name));
  }

  /** The type of a kind, also of one that is only the body of a subresource: `TokenRequest`, `Eviction`, `Scale`. */
  typeOf(name: KindName): string | undefined {
    return this.find(name)?.type ?? this.#bodyTypes.get(nameOf(name));
  }

  /** The schema of a type, references resolved; always the same object for the same type. */
  schemaOf(type: string): StructuralSchema | undefined {
    return this.#graph.schemaOf(type);
  }

  /** Every schema as OpenAPI publishes it, by short type name, references unresolved. */
  get schemas(): Readonly<Record<string, SchemaRecord>> {
    return this.#schemas;
  }

  /** The Go struct, or list, behind a type. */
  structOf(type: string): GoStruct | undefined {
    const known = this.#completed.get(type);
    const record = Object.hasOwn(this.#structs, type) ? this.#structs[type] : undefined;
    if (known !== undefined || record === undefined) return known;
    const struct = completeStruct(type, record);
    this.#completed.set(type, struct);
    return struct;
  }

  /** As `structOf`, of a type that must be there. Throws a `RangeError`. */
  requireStruct(type: string): GoStruct {
    const struct = this.structOf(type);
    if (struct === undefined) throw new RangeError(`the type ${type} is not known`);
    return struct;
  }

  /**
   * What defaulting adds to a struct of `type` at `path` in an object of the kind. The path is in JSON
   * names with `[]` for any element of a list and `{}` for any value of a map: `.spec.containers[].ports[]`.
   */
  defaultsOf(kind: KindName, path: string, type: string): Defaults | undefined {
    const place = `${nameOf(kind)}${path}`;
    const key = Object.hasOwn(this.#defaults, place) ? place : type;
    const found = Object.hasOwn(this.#defaults, key) ? this.#defaults[key] : undefined;
    return found === undefined ? undefined : { added: found.added ?? {}, when: found.when ?? [] };
  }
}

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface KindsData {
  readonly kinds: readonly KindRecord[];
  readonly schemas: Readonly<Record<string, SchemaRecord>>;
  readonly structs: Readonly<Record<string, StructRecord>>;
  readonly defaults: Readonly<Record<string, Partial<Defaults>>>;
}

/** What a minimal object of a kind looks like once a real server has stored it. */
export interface KindExample {
  readonly sent: Readonly<Record<string, Json>>;
  readonly got: Readonly<Record<string, Json>>;
  /** `got` in protobuf with its envelope, base64. */
  readonly protobuf: string;
}

/** Reads the data; some 400 KB, so only when it is needed. Each call reads it anew: keep the result. */
export async function loadBuiltinKinds(): Promise<BuiltinKinds> {
  const [kinds, schemas, structs, defaults] = await Promise.all([
    import("./data/kinds.json", { with: { type: "json" } }),
    import("./data/schemas.json", { with: { type: "json" } }),
    import("./data/structs.json", { with: { type: "json" } }),
    import("./data/defaults.json", { with: { type: "json" } }),
  ]);
  return new BuiltinKinds({
    kinds: kinds.default as unknown as KindsData["kinds"],
    schemas: schemas.default as unknown as KindsData["schemas"],
    structs: structs.default as unknown as KindsData["structs"],
    defaults: defaults.default,
  });
}

/** An example of each stored kind, by `group/version/Kind`: for tests. */
export async function loadKindExamples(): Promise<Readonly<Record<string, KindExample>>> {
  const examples = await import("./data/examples.json", { with: { type: "json" } });
  return examples.default;
}

function nameOf({ group, version, kind }: KindName): string {
  return `${group}/${version}/${kind}`;
}
