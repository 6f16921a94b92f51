import type { Json } from "@keelson/base";

/** A member that should be text; nothing if it is not. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
