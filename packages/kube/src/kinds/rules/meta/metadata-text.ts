// Metadata as messages show it: its fields in the order of their struct, what is empty left out.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";

/** The fields of metadata, in order. */
export const metadataFields: readonly string[] = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

export function metadataText(metadata: JsonObject): string {
  const members = metadataFields.flatMap((name) => {
    const value = memberOf(metadata, name);
    return value === undefined || value === null ? [] : [`"${name}":${goJson(value)}`];
  });
  return `{${members.join(",")}}`;
}
