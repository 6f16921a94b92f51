// The object that a resource stands for, as it is applied.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import type { Resource, ResourceKey } from "../resources/resource.ts";
import { isSecret } from "../resources/secret-markers.ts";

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
  const { apiVersion, kind, name, namespace, id, generation, revision } = resource;
  const { metadata, ...rest } = specAsKept(resource.desiredSpec, resource);
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

/**
 * The spec as the cluster keeps it: the texts of a Secret's `stringData` among its data. As they were sent nobody finds
 * them there: they could neither drift nor be dropped. What is no map of texts stays, for the cluster to say so.
 */
export function specAsKept(spec: JsonObject, key: ResourceKey): JsonObject {
  if (!isSecret(key)) return spec;
  const { stringData, data, ...rest } = spec;
  const before = data ?? {};
  if (!isTexts(stringData) || !isTexts(before)) return spec;
  const texts = Object.entries(stringData).map(([name, text]) => [name, base64Of(text)]);
  return { ...rest, data: { ...before, ...Object.fromEntries(texts) } };
}

function isTexts(value: Json | undefined): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((one) => typeof one === "string");
}

function base64Of(text: string): string {
  return Buffer.from(text).toString("base64");
}
