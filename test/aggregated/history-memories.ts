// The objects of a history behind a host: Memories.

import type { Json, JsonObject } from "@keelson/base";

import type { HistoryObjects } from "../apiserver/history/pod-templates.ts";
import { rowFactOf } from "../apiserver/history/pod-templates.ts";
import { group } from "./host-objects.ts";
import { pathOf } from "./objects.ts";

/** What the log has of the deletion of an object. */
export type Deletions = (
  uid: string,
) => Promise<{ readonly object: Json; readonly revision: number }>;

/** A deletion of these answers only whose it was; the log says when. */
export function memories(deletions: Deletions): HistoryObjects {
  const kind = `Memory.${group}`;
  return {
    kind,
    collectionOf: (namespace) =>
      namespace === "" ? `/apis/${group}/v1alpha1/memories` : pathOf("memories", namespace),
    objectOf: (key, body, revision) => {
      const { metadata, spec } = JSON.parse(body) as {
        metadata: JsonObject;
        spec: { write: string };
      };
      return {
        apiVersion: `${group}/v1alpha1`,
        kind: "Memory",
        metadata: {
          name: key.name,
          namespace: key.namespace,
          ...metadata,
          annotations: { write: spec.write },
          ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
        },
        spec: { address: { value: "http://memory.example.com" } },
      };
    },
    deleted: async (_key, answer) => {
      const { details } = answer as unknown as { details: { uid: string } };
      const { object, revision } = await deletions(details.uid);
      return rowFactOf(object, kind, revision);
    },
  };
}
