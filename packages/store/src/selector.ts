// Which objects of a collection a list or a watch is about.

import { isJsonObject, type Json, JsonNumber, type JsonObject } from "@keelson/base";

/**
 * One condition on a label. As in Kubernetes, `NotIn` also holds for objects
 * without the label; `Gt` and `Lt` compare integers of 64 bits and fail on anything else.
 */
export type LabelRequirement =
  | { readonly key: string; readonly operator: "In" | "NotIn"; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: "Exists" | "DoesNotExist" }
  | { readonly key: string; readonly operator: "Gt" | "Lt"; readonly value: string };

/** One condition on a field, named by its path: `["spec", "type"]`. An absent field counts as `""`. */
export interface FieldRequirement {
  readonly path: readonly string[];
  readonly operator: "Equals" | "NotEquals";
  readonly value: string;
}

/** Conditions that must all hold. */
export interface Selector {
  readonly labels?: readonly LabelRequirement[];
  readonly fields?: readonly FieldRequirement[];
}

/** Whether `selector` lets everything through. */
export function selectsAll(selector: Selector): boolean {
  return (selector.labels ?? []).length === 0 && (selector.fields ?? []).length === 0;
}

/** Whether all conditions hold for `object`. */
export function matches(selector: Selector, object: JsonObject): boolean {
  const labels = labelsOf(object);
  return (
    (selector.labels ?? []).every((requirement) => holds(requirement, labels)) &&
    (selector.fields ?? []).every(({ path, operator, value }) => {
      return (fieldText(object, path) === value) === (operator === "Equals");
    })
  );
}

/** The only name that is asked for, if there is one: what its key says decides without its body. */
export function nameOf({ fields = [] }: Selector): string | undefined {
  return fields.find(
    ({ path, operator }) => operator === "Equals" && path.join(".") === "metadata.name",
  )?.value;
}

/** The object's labels; only text counts as a value. */
export function labelsOf(object: JsonObject): JsonObject {
  const metadata = member(object, "metadata");
  const labels = isJsonObject(metadata) ? member(metadata, "labels") : undefined;
  return isJsonObject(labels) ? labels : {};
}

function holds(requirement: LabelRequirement, labels: JsonObject): boolean {
  const value = member(labels, requirement.key);
  const text = typeof value === "string" ? value : undefined;
  switch (requirement.operator) {
    case "In":
      return text !== undefined && requirement.values.includes(text);
    case "NotIn":
      return text === undefined || !requirement.values.includes(text);
    case "Exists":
      return text !== undefined;
    case "DoesNotExist":
      return text === undefined;
    case "Gt":
    case "Lt": {
      const found = integer(text);
      const bound = integer(requirement.value);
      if (found === undefined || bound === undefined) return false;
      return requirement.operator === "Gt" ? found > bound : found < bound;
    }
  }
}

/** A decimal integer of 64 bits; undefined for any other text. No digit may be lost: labels hold times in nanoseconds, too. */
function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^-?[0-9]{1,63}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

function fieldText(object: JsonObject, path: readonly string[]): string {
  let value: Json | undefined = object;
  for (const step of path) {
    value = isJsonObject(value) ? member(value, step) : undefined;
  }
  if (value === undefined || value === null) return "";
  if (value instanceof JsonNumber) return value.text;
  return typeof value === "object" ? "" : String(value);
}

/** Own members only: a label named `constructor` is absent unless somebody set it. */
function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
