// Schemas that name each other, made into schemas that contain each other.

import type { StructuralSchema } from "../schema/structural.ts";

/** A schema as OpenAPI has it, except that `$ref` is a type's short name and may have siblings, which win. */
export interface SchemaRecord extends Omit<
  StructuralSchema,
  "properties" | "additionalProperties" | "items"
> {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, SchemaRecord>>;
  readonly additionalProperties?: SchemaRecord | boolean;
  readonly items?: SchemaRecord;
}

/**
 * Resolves references on demand. The same type is always the same object, so what is compiled from
 * one may be kept by identity; types that contain themselves become schemas that do.
 */
export class SchemaGraph {
  readonly #records: Readonly<Record<string, SchemaRecord>>;
  readonly #resolved = new Map<string, StructuralSchema>();

  constructor(records: Readonly<Record<string, SchemaRecord>>) {
    this.#records = records;
  }

  /** The schema of a type, or undefined if OpenAPI shows none. */
  schemaOf(type: string): StructuralSchema | undefined {
    if (!Object.hasOwn(this.#records, type)) return undefined;
    const unfinished: (() => void)[] = [];
    const schema = this.#type(type, unfinished);
    for (const finish of unfinished) finish();
    return schema;
  }

  #type(type: string, unfinished: (() => void)[]): StructuralSchema {
    const known = this.#resolved.get(type);
    if (known !== undefined) return known;
    const record = this.#records[type];
    if (record === undefined) throw new RangeError(`no schema for type ${type}`);
    const schema: Record<string, unknown> = {};
    this.#resolved.set(type, schema); // Before its parts, one of which may be of this type.
    this.#fill(schema, record, unfinished);
    if (record.format === "int-or-string") schema["x-kubernetes-int-or-string"] = true;
    return schema;
  }

  #part(record: SchemaRecord, unfinished: (() => void)[]): StructuralSchema {
    const { $ref: reference, ...siblings } = record;
    const schema: Record<string, unknown> = {};
    if (reference === undefined) {
      this.#fill(schema, record, unfinished);
      return schema;
    }
    const target = this.#type(reference, unfinished);
    if (Object.keys(siblings).length === 0) return target;
    // The target may not be complete yet, if we are inside it.
    unfinished.push(() => Object.assign(schema, target, siblings));
    return schema;
  }

  #fill(schema: Record<string, unknown>, record: SchemaRecord, unfinished: (() => void)[]): void {
    Object.assign(schema, record);
    if (record.properties !== undefined) {
      schema["properties"] = Object.fromEntries(
        Object.entries(record.properties).map(([name, part]) => [
          name,
          this.#part(part, unfinished),
        ]),
      );
    }
    if (record.items !== undefined) schema["items"] = this.#part(record.items, unfinished);
    if (typeof record.additionalProperties === "object") {
      schema["additionalProperties"] = this.#part(record.additionalProperties, unfinished);
    }
  }
}
