// What storing changes: a real server keeps protobuf, which cannot tell an empty list from none.

import { isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { MutableJson, MutableJsonObject } from "@keelson/base";

import type { GoField, GoStruct } from "../kinds/go-struct.ts";
import { compileWalk, flatFields, type NamedType } from "./struct-walk.ts";

/** What storing changes in an object of a kind; undefined if nothing. */
export function storedForm(
  kind: NamedType,
  structOf: (type: string) => GoStruct,
): ((object: MutableJsonObject) => void) | undefined {
  const walk = compileWalk<undefined>(kind.type, {
    structOf,
    ruleAt: (_, struct) => {
      const fields = flatFields(struct, structOf);
      // Elsewhere what is empty is not printed at all.
      const emptied = fields.filter(isPrintedContainer).map(({ name }) => name);
      const bytes = fields.filter(holdsBytes).map(({ name }) => name);
      const lists = fields.filter((field) => holdsLists(field, structOf)).map(({ name }) => name);
      if (emptied.length + bytes.length + lists.length === 0) return undefined;
      return (object) => {
        for (const name of emptied) emptyToNull(object, name);
        for (const name of bytes) replaceNulls(object, name, () => "");
        for (const name of lists) replaceNulls(object, name, () => []);
      };
    },
  });
  return walk === undefined ? undefined : (object) => walk(object, undefined);
}

function isPrintedContainer({ type, isAlwaysPrinted }: GoField): boolean {
  return isAlwaysPrinted && (type.form === "list" || type.form === "map");
}

function holdsBytes({ type }: GoField): boolean {
  return type.form === "map" && type.value.form === "scalar" && type.value.scalar === "bytes";
}

function holdsLists({ type }: GoField, structOf: (type: string) => GoStruct): boolean {
  if (type.form !== "map" || type.value.form !== "struct") return false;
  return structOf(type.value.struct).element !== undefined;
}

function emptyToNull(object: MutableJsonObject, name: string): void {
  const value = object[name];
  const isEmpty = isJsonArray(value)
    ? value.length === 0
    : isJsonObject(value) && Object.keys(value).length === 0;
  if (isEmpty) object[name] = null;
}

/** In a map every value is said, if only as empty. */
function replaceNulls(object: MutableJsonObject, name: string, empty: () => MutableJson): void {
  const map = object[name];
  if (!isJsonObject(map)) return;
  for (const key of Object.keys(map)) {
    if (map[key] === null) setMember(map, key, empty());
  }
}
