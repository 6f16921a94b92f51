import { isJsonObject, type Json } from "@keelson/base";
import type { KubeObject } from "@keelson/client";
import { memberOf } from "@keelson/kube";

/** The text of a field that a selector names, `status.phase` for one: the names are paths. */
export function fieldOf(object: KubeObject, field: string): string | undefined {
  // Objects are JSON by their types; the compiler cannot see that of an interface.
  let value = object as unknown as Json | undefined;
  for (const name of field.split(".")) {
    if (!isJsonObject(value)) return undefined;
    value = memberOf(value, name);
  }
  if (typeof value === "string") return value;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : undefined;
}
