import type { JsonObject } from "@keelson/base";

/** The profile that an annotation means; undefined if it means none. */
export function appArmorProfileOf(annotation: string): JsonObject | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const file = annotation.startsWith("localhost/") ? annotation.slice("localhost/".length) : "";
  return file === "" ? undefined : { type: "Localhost", localhostProfile: file };
}
