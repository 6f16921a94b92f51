// The Ark kinds at a server, and objects of theirs that every rule allows.

import assert from "node:assert/strict";

import { arkDefinitions, arkGroup } from "@keelson/apiserver";
import type { JsonObject } from "@keelson/base";

import { until } from "../../oracle/until.ts";
import type { Target } from "../target.ts";

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

/** Where the server does not serve the kinds itself, they are defined. */
export async function serveArk({ client }: Target, signal: AbortSignal): Promise<void> {
  const isServed = async (): Promise<boolean> => {
    const kinds = ["v1alpha1/agents", "v1alpha1/queries", "v1alpha1/models", "v1alpha1/mcpservers"];
    const answers = kinds.map(
      async (kind) => (await client.send({ path: `/apis/${arkGroup}/${kind}` }, signal)).status,
    );
    return (await Promise.all(answers)).every((status) => status === 200);
  };
  if (await isServed()) return;
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const body of arkDefinitions()) {
    const { status, text } = await client.send({ method: "POST", path, body }, signal);
    assert.equal(status, 201, text);
  }
  await until(isServed, signal);
}
