// What is right in a PersistentVolume but perhaps not meant.

import type { JsonObject } from "@keelson/base";

import { annotationsOf, has, objectOf, objectsOf, textOf } from "../../../object/members.ts";
import { isStatusChange } from "../workloads.ts";
import { deprecatedSourceWarnings } from "./deprecated-sources.ts";
import { nodeTermWarnings } from "./node-labels.ts";
import { oldClassWarnings } from "./storage-class-annotation.ts";

export const mountOptionsKey = "volume.beta.kubernetes.io/mount-options";

export function volumeWarnings(volume: JsonObject, old: JsonObject | undefined): readonly string[] {
  if (isStatusChange(volume, old)) return [];
  const spec = objectOf(volume, "spec");
  const annotations = annotationsOf(volume);
  const terms = objectsOf(
    objectOf(objectOf(spec, "nodeAffinity"), "required"),
    "nodeSelectorTerms",
  );
  return [
    ...oldClassWarnings(annotations),
    ...(has(annotations, mountOptionsKey)
      ? [
          `metadata.annotations[${mountOptionsKey}]: deprecated since v1.31; use "mountOptions" attribute instead`,
        ]
      : []),
    ...(textOf(spec, "persistentVolumeReclaimPolicy") === "Recycle"
      ? [
          "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
        ]
      : []),
    ...terms.flatMap((term, index) =>
      nodeTermWarnings(term, {
        path: `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`,
        checkValues: false,
      }),
    ),
    // The real server says nothing of these here.
    ...deprecatedSourceWarnings(spec, "spec", { except: ["flocker", "quobyte"] }),
  ];
}
