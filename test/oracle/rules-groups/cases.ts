// What the tables of cases are made of.

import { cloneJson, isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject } from "@keelson/base";

/**
 * Values by path: `spec/versions/0/name`. Undefined takes away, `-` for an index appends, `~1` stands for a slash in a
 * name, and what is missing on the way is made.
 */
export type Change = Readonly<Record<string, Json | undefined>>;

/** An update: what the object is before, and what is then changed. */
export interface UpdateCase {
  readonly before: Change;
  /** What is changed first, by endpoint: some things cannot be there from the start. */
  readonly through?: Readonly<Record<string, Change>>;
  readonly after: Change;
}

export interface KindCases {
  /** `group/version/Kind`. */
  readonly kind: string;
  /** Everything but `apiVersion`, `kind` and `metadata`; else the minimal object of the kind. */
  readonly fields?: (name: string) => JsonObject;
  readonly create?: readonly Change[];
  readonly update?: readonly (Change | UpdateCase)[];
  readonly status?: readonly (Change | UpdateCase)[];
  /** Updates of a request's `/approval`. */
  readonly approval?: readonly (Change | UpdateCase)[];
  /** Updates of a Namespace's `/finalize`. */
  readonly finalize?: readonly (Change | UpdateCase)[];
  /** Updates of a Pod's `/resize` and `/ephemeralcontainers`. */
  readonly resize?: readonly (Change | UpdateCase)[];
  readonly ephemeralcontainers?: readonly (Change | UpdateCase)[];
  /** For kinds whose names follow from the object. */
  readonly name?: (index: number) => string;
}

export function isUpdateCase(one: Change | UpdateCase): one is UpdateCase {
  return Object.hasOwn(one, "before") && Object.hasOwn(one, "after");
}

/** The same below another path. */
export function prefixed(prefix: string, more: Change): Change {
  return Object.fromEntries(
    Object.entries(more).map(([name, value]) => [`${prefix}/${name}`, value]),
  );
}

export function spec(more: Change): Change {
  return prefixed("spec", more);
}

export function status(more: Change): Change {
  return prefixed("status", more);
}

/** A text with nothing wrong but its length. */
export function long(length: number): string {
  return "a".repeat(length);
}

export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** A copy of the object with the change made. */
export function changed(object: JsonObject, change: Change): MutableJsonObject {
  const copy = cloneJson(object);
  for (const [path, value] of Object.entries(change)) {
    const steps = path.split("/").map((step) => step.replaceAll("~1", "/"));
    setAt(copy, steps, value === undefined ? undefined : cloneJson(value));
  }
  return copy;
}

function setAt(
  parent: MutableJsonObject | MutableJson[],
  steps: readonly string[],
  value: MutableJson | undefined,
): void {
  const [step = "", ...rest] = steps;
  if (rest.length === 0) {
    if (isJsonArray(parent)) {
      if (value === undefined) parent.splice(Number(step), 1);
      else parent[step === "-" ? parent.length : Number(step)] = value;
    } else if (value === undefined) delete parent[step];
    else setMember(parent, step, value);
    return;
  }
  const index = isJsonArray(parent) ? (step === "-" ? parent.length : Number(step)) : step;
  const found = isJsonArray(parent) ? parent[Number(index)] : parent[String(index)];
  if (found !== undefined && (isJsonObject(found) || isJsonArray(found))) {
    setAt(found, rest, value);
    return;
  }
  const made: MutableJsonObject | MutableJson[] = /^(?:\d+|-)$/.test(rest[0] ?? "") ? [] : {};
  if (isJsonArray(parent)) parent[Number(index)] = made;
  else setMember(parent, String(index), made);
  setAt(made, rest, value);
}
