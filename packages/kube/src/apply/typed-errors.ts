// What a value has that its schema does not allow, told as server-side apply tells it.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { printSource, printType, printValue } from "../go-text/go-print.ts";
import { printItemElement } from "./item-element.ts";
import { areApart, elementOf, identityOf, itemProblem } from "./list-items.ts";
import {
  formOf,
  isScalar,
  type ListType,
  type MapType,
  type MergeType,
  type ScalarKind,
} from "./merge-type.ts";
import { toldErrorsMax, toldTextMax, untoldText } from "../status/field-error.ts";

/** One misfit: where, and what. */
interface TypedError {
  readonly path: string;
  readonly message: string;
  readonly isDuplicate: boolean;
}

interface TypedCheck {
  /** Whether items of a list may have the same keys: stored objects may, what is applied may not. */
  readonly allowDuplicates: boolean;
}

/** What is wrong with a value of a type; empty if nothing is. Of very many errors only the first are found. */
export function findTypedErrors(
  type: MergeType,
  value: Json,
  { allowDuplicates }: TypedCheck,
): TypedError[] {
  const errors: TypedError[] = [];
  checkValue(type, value, { allowDuplicates, errors });
  return errors;
}

/** One error on a line, several below a heading. Where there are too many of them, the last line says so. */
export function printTypedErrors(errors: readonly TypedError[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { path, message } of errors) {
    length += path.length + message.length;
    if (lines.length >= toldErrorsMax || (lines.length > 0 && length > toldTextMax)) {
      lines.push(untoldText);
      break;
    }
    lines.push(path === "" ? message : `${path}: ${message}`);
  }
  return lines.length === 1
    ? (lines[0] ?? "")
    : ["errors:", ...lines.map((line) => `  ${line}`)].join("\n");
}

/** What is wrong with a scalar, if anything. Null is a scalar of every kind. */
export function scalarProblem(kind: ScalarKind, value: Json): string | undefined {
  if (value === null) return undefined;
  switch (kind) {
    case "numeric":
      if (typeof value !== "string" && typeof value !== "boolean" && isScalar(value))
        return undefined;
      return `expected numeric (int or float), got ${printType(value)}`;
    case "string":
      if (typeof value === "string") return undefined;
      return `expected string, got &value.valueUnstructured{Value:${printSource(value)}}`;
    case "boolean":
      if (typeof value === "boolean") return undefined;
      return `expected boolean, got &{${printValue(value)}}`;
    case "untyped":
      return isScalar(value) ? undefined : `expected any scalar, got &{${printValue(value)}}`;
  }
}

interface Walk extends TypedCheck {
  readonly errors: TypedError[];
}

function checkValue(type: MergeType, value: Json, walk: Walk): void {
  switch (formOf(type, value)) {
    case "map":
      if (type.map !== undefined) checkMap(type.map, value, walk);
      break;
    case "list":
      if (type.list !== undefined) checkList(type.list, value, walk);
      break;
    case "scalar": {
      const problem = type.scalar === undefined ? undefined : scalarProblem(type.scalar, value);
      if (problem !== undefined) report(walk, problem);
      break;
    }
    case undefined:
      report(walk, "schema error: invalid atom: inlined");
      break;
  }
}

function checkMap(map: MapType, value: Json, walk: Walk): void {
  if (value === null) return;
  if (!isJsonObject(value)) {
    report(walk, `expected map, got &{${printValue(value)}}`);
    return;
  }
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const type = map.fields.get(name)?.type ?? map.other;
    if (type === undefined) {
      walk.errors.push({
        path: `.${name}`,
        message: "field not declared in schema",
        isDuplicate: false,
      });
      return; // Like Kubernetes, which looks no further in this map.
    }
    // Most members are texts where texts belong.
    if (typeof member === "string" && (type.scalar === "string" || type.scalar === "untyped")) {
      continue;
    }
    const before = walk.errors.length;
    checkValue(type, member, walk);
    if (walk.errors.length > before) prefix(walk, before, `.${name}`);
    if (isFull(walk)) return;
  }
}

function checkList(list: ListType, value: Json, walk: Walk): void {
  if (value === null) return;
  if (!isJsonArray(value)) {
    report(walk, `expected list, got &{${printValue(value)}}`);
    return;
  }
  if (list.isAtomic) {
    for (let index = 0; index < value.length; index++) {
      const before = walk.errors.length;
      checkValue(list.item, value[index] ?? null, walk);
      if (walk.errors.length > before) prefix(walk, before, `[${index}]`);
      if (isFull(walk)) return;
    }
    return;
  }
  const seen = walk.allowDuplicates || areApart(list, value) ? undefined : new Set<Json>();
  let index = 0;
  for (const item of value) {
    const problem = itemProblem(list, item);
    if (problem !== undefined) {
      report(walk, `element ${index}: ${problem}`);
      return;
    }
    if (seen !== undefined) checkDuplicate(list, item, seen, walk);
    const before = walk.errors.length;
    checkValue(list.item, item, walk);
    if (walk.errors.length > before) prefix(walk, before, nameOfItem(list, item));
    if (isFull(walk)) return;
    index += 1;
  }
}

function checkDuplicate(list: ListType, item: Json, seen: Set<Json>, walk: Walk): void {
  const identity = identityOf(list, item);
  if (seen.has(identity)) {
    const message = `duplicate entries for key ${nameOfItem(list, item)}`;
    walk.errors.push({ path: "", message, isDuplicate: true });
  }
  seen.add(identity);
}

function nameOfItem(list: ListType, item: Json): string {
  const element = elementOf(list, item);
  return typeof element === "string" ? "" : printItemElement(element);
}

/** One more than are told, by which is seen that there are too many. */
function isFull({ errors }: Walk): boolean {
  return errors.length > toldErrorsMax;
}

function report(walk: Walk, message: string): void {
  walk.errors.push({ path: "", message, isDuplicate: false });
}

/** Errors are found below and named on the way up: almost no value has any. */
function prefix({ errors }: Walk, from: number, text: string): void {
  for (let i = from; i < errors.length; i++) {
    const error = errors[i];
    if (error !== undefined) errors[i] = { ...error, path: text + error.path };
  }
}
