import type { JsonObject } from "@keelson/base";

import { has } from "../../../object/members.ts";

/** Sources of volumes that are on their way out: since when, and what messages call them. */
const deprecated: readonly (readonly [name: string, message: string, said?: string])[] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

/** What to say of the source of a volume, which is a member of `volume`; `path` is where that stands. */
export function deprecatedSourceWarnings(
  volume: JsonObject,
  path: string,
  { except = [] }: { readonly except?: readonly string[] } = {},
): readonly string[] {
  return deprecated.flatMap(([name, message, said = name]) =>
    has(volume, name) && !except.includes(name) ? [`${path}.${said}: ${message}`] : [],
  );
}
