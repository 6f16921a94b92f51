import { isJsonArray, JsonNumber, type Json } from "@keelson/base";

/** How Go's messages call a JSON value. */
export function jsonTypeName(value: Json): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || typeof value === "bigint") return "number";
  if (value instanceof JsonNumber) return "number";
  if (value === null) return "null";
  return isJsonArray(value) ? "array" : "object";
}
