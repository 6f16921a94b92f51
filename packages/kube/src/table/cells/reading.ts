// Reading objects that may lack anything.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { compareBytes } from "../../go-text/byte-order.ts";
import { ageOf } from "../human-duration.ts";

/** What a cell is made of: the object and the time. */
export interface Subject {
  readonly object: JsonObject;
  readonly nowMs: number;
}

/** The cells of one kind, in the order of its columns. */
export type CellsOf = (subject: Subject) => readonly Json[];

/** The value at a path, or nothing. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const name of path) {
    if (current === undefined || !isJsonObject(current) || !Object.hasOwn(current, name)) {
      return undefined;
    }
    current = current[name];
  }
  return current === null ? undefined : current;
}

export function text(value: Json | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function count(value: Json | undefined, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

export function list(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return found !== undefined && isJsonArray(found) ? found : [];
}

export function texts(value: Json | undefined, ...path: readonly string[]): string[] {
  return list(value, ...path).filter((item) => typeof item === "string");
}

/** A scalar as text; anything else is empty. */
export function scalarText(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : "";
}

export function entries(value: Json | undefined, ...path: readonly string[]): [string, Json][] {
  const found = at(value, ...path);
  if (found === undefined || !isJsonObject(found)) return [];
  return Object.entries(found).sort(([a], [b]) => compareBytes(a, b));
}

export function nameOf({ object }: Subject): string {
  return text(object, "metadata", "name");
}

export function age({ object, nowMs }: Subject): string {
  return ageOf(text(object, "metadata", "creationTimestamp"), nowMs);
}

export function isDeleted({ object }: Subject): boolean {
  return at(object, "metadata", "deletionTimestamp") !== undefined;
}

/** The first that says anything. */
export function orElse(value: string, otherwise: string): string {
  return value === "" ? otherwise : value;
}

/** The names and the images of containers, each joined by commas. */
export function containerCells(template: Json | undefined): [names: string, images: string] {
  const containers = list(template, "spec", "containers");
  return [
    containers.map((container) => text(container, "name")).join(","),
    containers.map((container) => text(container, "image")).join(","),
  ];
}

/** Labels as `a=b,c=d`. */
export function labelsText(labels: Json | undefined): string {
  const pairs = entries(labels).map(([key, value]) => `${key}=${scalarText(value)}`);
  return orElse(pairs.join(","), "<none>");
}

/** A label selector as `a=b,c in (d,e),!f`; empty for one that selects everything or nothing. */
export function selectorText(selector: Json | undefined): string {
  const parts: [key: string, text: string][] = entries(selector, "matchLabels").map(
    ([key, value]) => [key, `${key}=${scalarText(value)}`],
  );
  for (const expression of list(selector, "matchExpressions")) {
    const key = text(expression, "key");
    const values = texts(expression, "values").sort(compareBytes).join(",");
    switch (text(expression, "operator")) {
      case "In":
        parts.push([key, `${key} in (${values})`]);
        break;
      case "NotIn":
        parts.push([key, `${key} notin (${values})`]);
        break;
      case "Exists":
        parts.push([key, key]);
        break;
      case "DoesNotExist":
        parts.push([key, `!${key}`]);
        break;
      default:
    }
  }
  return parts
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([, part]) => part)
    .join(",");
}

/** The status of a condition: `True`, `False`, `Unknown`, or empty. */
export function conditionStatus(object: JsonObject, type: string): string {
  const found = list(object, "status", "conditions").find((item) => text(item, "type") === type);
  return text(found, "status");
}
