// The object that a resource stands for, as it is applied.

import { isJsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import type { Resource } from "../resources/resource.ts";

/** Who we are to the API servers: the owner of the fields that we apply. */
export const fieldManager = "kontrol";

/** Which row an object belongs to, and how new it is. */
export const annotations = {
  resourceId: "kontrol/resource-id",
  generation: "kontrol/generation",
  revision: "kontrol/revision",
} as const;

export function desiredObject(
  resource: Resource,
  { isNamespaced }: { readonly isNamespaced: boolean },
): DynamicObject {
  const { apiVersion, kind, name, namespace, id, generation, revision, desiredSpec } = resource;
  const { metadata, ...rest } = desiredSpec;
  const { labels, annotations: own } = isJsonObject(metadata) ? metadata : {};
  return {
    ...rest,
    apiVersion,
    kind,
    metadata: {
      name,
      ...(isNamespaced ? { namespace } : {}),
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        ...(isJsonObject(own) ? own : {}),
        [annotations.resourceId]: String(id),
        [annotations.generation]: String(generation),
        [annotations.revision]: String(revision),
      },
    },
  } as DynamicObject; // Labels and annotations are texts: they were checked when they were written.
}
