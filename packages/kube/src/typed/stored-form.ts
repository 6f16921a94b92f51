// What storing changes: a real server keeps protobuf, which cannot tell an empty list from none.

import { isJsonArray, isJsonObject, setMember, type MutableJsonObject } from "@keelson/base";

import type { BuiltinKind } from "../kinds/builtin-kind.ts";
import type { GoField, GoStruct } from "../kinds/go-struct.ts";
import { compileWalk, flatFields, type StructRule } from "./struct-walk.ts";

/** What storing changes in an object of a kind; undefined if nothing. */
export function storedForm(
  kind: BuiltinKind,
  structOf: (type: string) => GoStruct,
): StructRule<undefined> | undefined {
  return compileWalk<undefined>(kind.type, {
    structOf,
    ruleAt: (_, struct) => {
      const fields = flatFields(struct, structOf);
      // Elsewhere what is empty is not printed at all.
      const emptied = fields.filter(isPrintedContainer).map(({ name }) => name);
      const bytes = fields.filter(holdsBytes).map(({ name }) => name);
      if (emptied.length === 0 && bytes.length === 0) return undefined;
      return (object) => {
        for (const name of emptied) emptyToNull(object, name);
        for (const name of bytes) nullsToEmpty(object, name);
      };
    },
  });
}

function isPrintedContainer({ type, isAlwaysPrinted }: GoField): boolean {
  return isAlwaysPrinted && (type.form === "list" || type.form === "map");
}

function holdsBytes({ type }: GoField): boolean {
  return type.form === "map" && type.value.form === "scalar" && type.value.scalar === "bytes";
}

function emptyToNull(object: MutableJsonObject, name: string): void {
  const value = object[name];
  const isEmpty = isJsonArray(value)
    ? value.length === 0
    : isJsonObject(value) && Object.keys(value).length === 0;
  if (isEmpty) object[name] = null;
}

function nullsToEmpty(object: MutableJsonObject, name: string): void {
  const map = object[name];
  if (!isJsonObject(map)) return;
  for (const key of Object.keys(map)) {
    if (map[key] === null) setMember(map, key, "");
  }
}
