import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import { trimSpace } from "../../../../go-text/trim-space.ts";
import { textOf } from "../../../../object/members.ts";

/** The most bytes in the name of a profile on the node. */
export const profileBytesMax = 4095;

/** The profile that an annotation means; undefined if it means none. */
export function appArmorProfileOf(annotation: string): JsonObject | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const file = annotation.startsWith("localhost/") ? annotation.slice("localhost/".length) : "";
  return file === "" ? undefined : { type: "Localhost", localhostProfile: file };
}

/** The same, if a field may say it, too. */
export function takenProfileOf(annotation: string): JsonObject | undefined {
  const profile = appArmorProfileOf(annotation);
  const file = profile === undefined ? "" : textOf(profile, "localhostProfile");
  return file === trimSpace(file) && byteLength(file) <= profileBytesMax ? profile : undefined;
}

/** What to say of an annotation that names a profile; `prefix` is before the metadata that it stands in. */
export function appArmorWarning(prefix: string, key: string): string {
  return `${prefix}metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}
