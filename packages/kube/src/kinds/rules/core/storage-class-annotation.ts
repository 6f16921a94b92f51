// How claims and volumes once named their class.

import type { JsonObject } from "@keelson/base";

import { has } from "../../../object/members.ts";

export const classKey = "volume.beta.kubernetes.io/storage-class";

export function oldClassWarnings(annotations: JsonObject): readonly string[] {
  if (!has(annotations, classKey)) return [];
  return [
    `metadata.annotations[${classKey}]: deprecated since v1.8; use "storageClassName" attribute instead`,
  ];
}
