// Names that are kept for configurations in files.

import type { JsonObject } from "@keelson/base";

import { objectOf, textOf } from "../../../object/members.ts";

const suffix = ".static.k8s.io";

export function staticNameWarnings(object: JsonObject): readonly string[] {
  if (!textOf(objectOf(object, "metadata"), "name").endsWith(suffix)) return [];
  return [
    `metadata.name: names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}
