// The JSON text of a struct as Go writes it: fields in their order. Annotations hold such texts.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { goJson } from "../../go-text/go-json.ts";
import type { FieldType, GoStruct } from "../../kinds/go-struct.ts";
import { flatFields } from "../struct-walk.ts";

/** The text of a decoded value of a type. */
export function goStructText(
  value: Json,
  type: FieldType,
  structOf: (name: string) => GoStruct,
): string {
  if (type.form === "list" && isJsonArray(value)) {
    return `[${value.map((item) => goStructText(item, type.item, structOf)).join(",")}]`;
  }
  const struct = type.form === "struct" ? structOf(type.struct) : undefined;
  if (struct === undefined || struct.isOpaque || !isJsonObject(value)) return goJson(value);
  const members: string[] = [];
  for (const { name, type: inner } of flatFields(struct, structOf)) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (member !== undefined)
      members.push(`${goJson(name)}:${goStructText(member, inner, structOf)}`);
  }
  return `{${members.join(",")}}`;
}
