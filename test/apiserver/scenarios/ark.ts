// Objects of the Ark kinds that every rule allows.

import { arkGroup } from "@keelson/apiserver";
import type { JsonObject } from "@keelson/base";

const version = `${arkGroup}/v1alpha1`;

/** The path of a collection, or of an object in it. */
export function ark(namespace: string, plural: string, name?: string): string {
  const collection = `/apis/${version}/namespaces/${namespace}/${plural}`;
  return name === undefined ? collection : `${collection}/${name}`;
}

export function agent(name: string, metadata: JsonObject = {}, prompt = "p"): JsonObject {
  return {
    apiVersion: version,
    kind: "Agent",
    metadata: { name, ...metadata },
    spec: { prompt, modelRef: { name: "default" } },
  };
}

export function query(name: string, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: version,
    kind: "Query",
    metadata: { name, ...metadata },
    spec: { input: "hello", selector: { matchLabels: { app: "x" } }, ttl: "1h" },
  };
}
