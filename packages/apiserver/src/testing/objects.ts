// Objects that tests write, as small as they may be.

import type { JsonObject } from "@keelson/base";

export interface Parts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: JsonObject;
}

function named(name: string, { labels, metadata = {} }: Parts): JsonObject {
  return { name, ...(labels === undefined ? {} : { labels }), ...metadata };
}

export function agent(name: string, { prompt = "p", ...parts }: Parts & { prompt?: string } = {}) {
  return {
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind: "Agent",
    metadata: named(name, parts),
    spec: { prompt, modelRef: { name: "default" } },
  };
}

/** A query that names nobody, so that nobody must be there. */
export function query(name: string, parts: Parts = {}) {
  return {
    apiVersion: "ark.mckinsey.com/v1alpha1",
    kind: "Query",
    metadata: named(name, parts),
    spec: { input: "hello", selector: { matchLabels: { app: "any" } }, ttl: "1h" },
  };
}

export function configMap(
  name: string,
  { data, ...parts }: Parts & { readonly data?: Readonly<Record<string, string>> } = {},
) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: named(name, parts),
    ...(data === undefined ? {} : { data }),
  };
}

/** The path of a collection of a group's kind in a namespace. */
export function ark(namespace: string, plural: string): string {
  return `/apis/ark.mckinsey.com/v1alpha1/namespaces/${namespace}/${plural}`;
}

export function core(namespace: string, plural: string): string {
  return `/api/v1/namespaces/${namespace}/${plural}`;
}
