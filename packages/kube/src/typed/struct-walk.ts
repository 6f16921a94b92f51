// Visits the structs of an object that somebody has a rule for, and no others: compiled once for each kind.

import { isJsonArray, isJsonObject } from "@keelson/base";
import type { MutableJson, MutableJsonObject } from "@keelson/base";

import type { KindName } from "../kinds/builtin-kinds.ts";
import type { FieldType, GoField, GoStruct } from "../kinds/go-struct.ts";

/** A kind and the type of its objects. */
export interface NamedType extends KindName {
  readonly type: string;
}

/** Changes a struct in place. */
export type StructRule<Context> = (struct: MutableJsonObject, context: Context) => void;

/** A place in an object of some kind: a path as `defaultsOf` takes it, and the type there. */
export interface Place {
  readonly path: string;
  readonly type: string;
}

interface WalkOptions<Context> {
  readonly structOf: (type: string) => GoStruct;
  readonly ruleAt: (place: Place, struct: GoStruct) => StructRule<Context> | undefined;
}

type Visit<Context> = (value: MutableJson, context: Context) => void;

/**
 * Compiles a walk from a struct: its own rule first, then those of what is inside it, as Go's generated code does.
 * Undefined if there is none. A struct that contains itself is entered once.
 */
export function compileWalk<Context>(
  root: string,
  options: WalkOptions<Context>,
): StructRule<Context> | undefined {
  return compileStruct({ path: "", type: root }, [], options);
}

function compileStruct<Context>(
  place: Place,
  above: readonly string[],
  options: WalkOptions<Context>,
): StructRule<Context> | undefined {
  if (above.includes(place.type)) return undefined;
  const struct = options.structOf(place.type);
  if (struct.isOpaque || struct.element !== undefined) return undefined;
  const rule = options.ruleAt(place, struct);
  const children: { readonly name: string; readonly visit: Visit<Context> }[] = [];
  const inside = [...above, place.type];
  for (const { name, type } of flatFields(struct, options.structOf)) {
    const visit = compileType(type, `${place.path}.${name}`, inside, options);
    if (visit !== undefined) children.push({ name, visit });
  }
  if (children.length === 0) return rule;
  return (object, context) => {
    rule?.(object, context);
    for (const { name, visit } of children) {
      const value = object[name];
      if (value !== undefined && value !== null) visit(value, context);
    }
  };
}

function compileType<Context>(
  type: FieldType,
  path: string,
  above: readonly string[],
  options: WalkOptions<Context>,
): Visit<Context> | undefined {
  switch (type.form) {
    case "scalar":
      return undefined;
    case "struct": {
      const rule = compileStruct({ path, type: type.struct }, above, options);
      return rule === undefined ? undefined : visitObject(rule);
    }
    case "list": {
      const visit = compileType(type.item, `${path}[]`, above, options);
      return visit === undefined ? undefined : visitItems(visit);
    }
    case "map": {
      const visit = compileType(type.value, `${path}{}`, above, options);
      return visit === undefined ? undefined : visitMembers(visit);
    }
  }
}

function visitObject<Context>(rule: StructRule<Context>): Visit<Context> {
  return (value, context) => {
    if (isJsonObject(value)) rule(value, context);
  };
}

function visitItems<Context>(visit: Visit<Context>): Visit<Context> {
  return (value, context) => {
    if (!isJsonArray(value)) return;
    for (const item of value) visit(item, context);
  };
}

function visitMembers<Context>(visit: Visit<Context>): Visit<Context> {
  return (value, context) => {
    if (!isJsonObject(value)) return;
    for (const member of Object.values(value)) visit(member, context);
  };
}

/** The fields of a struct and of those it embeds, as JSON shows them. */
export function flatFields(
  struct: GoStruct,
  structOf: (type: string) => GoStruct,
): readonly GoField[] {
  return struct.fields.flatMap((field) =>
    field.isInline && field.type.form === "struct"
      ? flatFields(structOf(field.type.struct), structOf)
      : [field],
  );
}
