// How objects are addressed, and the order in which they are listed.

/** A kind with its group, `Query.ark.mckinsey.com` or `ConfigMap`: groups never collide. */
export type Kind = string;

/** Names one object. `namespace` is `""` for a cluster-scoped one. */
export interface Key {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Names a collection. `namespace: ""` means all namespaces, cluster-scoped objects included. */
export interface Scope {
  readonly kind: Kind;
  readonly namespace: string;
}

/** A place in a collection's order. */
export type Position = Pick<Key, "namespace" | "name">;

/** The columns that hold a kind: `Query.ark.mckinsey.com` is `Query` of group `ark.mckinsey.com`. */
export function splitKind(kind: Kind): { readonly kind: string; readonly group: string } {
  const dot = kind.indexOf(".");
  return dot < 0 ? { kind, group: "" } : { kind: kind.slice(0, dot), group: kind.slice(dot + 1) };
}

/** The inverse of {@link splitKind}. */
export function joinKind(kind: string, group: string): Kind {
  return group === "" ? kind : `${kind}.${group}`;
}

/** A key as one string: unique, because none of its parts may hold NUL. */
export function keyText({ kind, namespace, name }: Key): string {
  return `${kind}\0${namespace}\0${name}`;
}

/** A key as people write it: `Query.ark.mckinsey.com default/q1`. */
export function describeKey({ kind, namespace, name }: Key): string {
  return namespace === "" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** Namespace, then name, bytewise in UTF-8: the order of every list, on every backend. */
export function comparePositions(a: Position, b: Position): number {
  return compareBytes(a.namespace, b.namespace) || compareBytes(a.name, b.name);
}

/**
 * UTF-8 order. JavaScript's `<` compares UTF-16 units, which puts U+E000 to U+FFFF
 * above the surrogates; UTF-8 puts every character outside the BMP last.
 */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return byteRank(left) - byteRank(right);
  }
  return a.length - b.length;
}

function byteRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
