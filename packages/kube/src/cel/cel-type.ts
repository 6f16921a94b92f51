// The types of CEL, as the checker reasons about them.

/** A type. `dyn` is any type, checked when the rule runs; `param` stands for one in a signature. */
export type CelType =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly item: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "optional"; readonly of: CelType }
  | { readonly kind: "type"; readonly of: CelType }
  | {
      readonly kind: "object";
      readonly name: string;
      readonly fields: ReadonlyMap<string, CelType>;
    }
  | { readonly kind: "param"; readonly name: string };

type ScalarKind =
  | "int"
  | "uint"
  | "double"
  | "bool"
  | "string"
  | "bytes"
  | "null"
  | "dyn"
  | "duration"
  | "timestamp"
  | "quantity";

const scalar = (kind: ScalarKind): CelType => ({ kind });

export const int = scalar("int");
export const uint = scalar("uint");
export const double = scalar("double");
export const bool = scalar("bool");
export const string = scalar("string");
export const bytes = scalar("bytes");
export const nullType = scalar("null");
export const dyn = scalar("dyn");
export const duration = scalar("duration");
export const timestamp = scalar("timestamp");
export const quantity = scalar("quantity");

export function listOf(item: CelType): CelType {
  return { kind: "list", item };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

export function optionalOf(of: CelType): CelType {
  return { kind: "optional", of };
}

const names: Partial<Record<CelType["kind"], string>> = {
  null: "null",
  quantity: "kubernetes.Quantity",
};

/** A type as messages name it: `list(int)`, `map(string, dyn)`. */
export function typeName(type: CelType): string {
  if (type.kind === "list") return `list(${typeName(type.item)})`;
  if (type.kind === "map") return `map(${typeName(type.key)}, ${typeName(type.value)})`;
  if (type.kind === "optional") return `optional_type(${typeName(type.of)})`;
  if (type.kind === "type") return `type(${typeName(type.of)})`;
  if (type.kind === "object" || type.kind === "param") return type.name;
  return names[type.kind] ?? type.kind;
}

/** What the parameters of a signature stand for. */
export type Bindings = Map<string, CelType>;

/**
 * Whether a value of type `from` may stand where `to` is asked for. Parameters of `to` are bound on the way;
 * null may stand for anything that is not a plain scalar.
 */
export function isAssignable(to: CelType, from: CelType, bindings: Bindings): boolean {
  if (to.kind === "param") {
    const bound = bindings.get(to.name);
    if (bound === undefined || bound.kind === "dyn") {
      if (bound === undefined) bindings.set(to.name, from);
      return true;
    }
    if (isAssignable(bound, from, bindings)) return true;
    if (!isAssignable(from, bound, bindings)) return false;
    bindings.set(to.name, from);
    return true;
  }
  if (to.kind === "dyn" || from.kind === "dyn") return true;
  if (from.kind === "param") return true;
  if (from.kind === "null" && isNullable(to)) return true;
  if (to.kind === "list") return from.kind === "list" && isAssignable(to.item, from.item, bindings);
  if (to.kind === "map") {
    if (from.kind !== "map") return false;
    const isKeyRight = isAssignable(to.key, from.key, bindings);
    return isKeyRight && isAssignable(to.value, from.value, bindings);
  }
  if (to.kind === "optional")
    return from.kind === "optional" && isAssignable(to.of, from.of, bindings);
  if (to.kind === "type") return from.kind === "type";
  if (to.kind === "object") return from.kind === "object" && to.name === from.name;
  return to.kind === from.kind;
}

function isNullable({ kind }: CelType): boolean {
  return (
    kind === "object" ||
    kind === "duration" ||
    kind === "timestamp" ||
    kind === "quantity" ||
    kind === "null"
  );
}

/** A type with its parameters replaced by what they stand for; what stands for nothing is `dyn`. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  const inner = (part: CelType): CelType => substitute(part, bindings);
  if (type.kind === "param") return bindings.get(type.name) ?? dyn;
  if (type.kind === "list") return listOf(inner(type.item));
  if (type.kind === "map") return mapOf(inner(type.key), inner(type.value));
  if (type.kind === "optional") return optionalOf(inner(type.of));
  return type.kind === "type" ? { kind: "type", of: inner(type.of) } : type;
}

/** Whether two types are the same, or one of them anything. */
export function isSame(a: CelType, b: CelType): boolean {
  return isAssignable(a, b, new Map()) && isAssignable(b, a, new Map());
}
