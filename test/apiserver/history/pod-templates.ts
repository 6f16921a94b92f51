// The objects of a history over HTTP. Usually small PodTemplates, whose deletion answers the object, so that its revision is known.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import type { KeyFact, RowFact } from "../../simulation/history.ts";

/** A kind that a history is made of. */
export interface HistoryObjects {
  /** As the store calls it. */
  readonly kind: string;
  /** The path of a collection; of all namespaces without one. */
  readonly collectionOf: (namespace: string) => string;
  /** The object whose body is this. */
  readonly objectOf: (key: KeyFact, body: string, revision?: number) => JsonObject;
  /** What an acknowledged deletion deleted, and when, where its answer does not say. */
  readonly deleted?: (key: KeyFact, answer: Json) => Promise<RowFact>;
}

const kind = "PodTemplate";
export const namespaces = ["blue", "green"] as const;
export const names = ["a", "a-b", "b", "c", "d"] as const;

function collectionOf(namespace: string): string {
  return namespace === "" ? "/api/v1/podtemplates" : `/api/v1/namespaces/${namespace}/podtemplates`;
}

/** What a history calls the body: the write that made it, and the label that selectors ask for. */
export function bodyFact(write: string, app: string | undefined): string {
  return JSON.stringify({
    metadata: app === undefined ? {} : { labels: { app } },
    spec: { write },
  });
}

function objectOf(key: KeyFact, body: string, revision?: number): JsonObject {
  const { metadata, spec } = JSON.parse(body) as { metadata: JsonObject; spec: { write: string } };
  return {
    apiVersion: "v1",
    kind,
    metadata: {
      name: key.name,
      namespace: key.namespace,
      ...metadata,
      annotations: { write: spec.write },
      ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
    },
    template: {
      metadata: { labels: { app: "x" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    },
  };
}

export const podTemplates: HistoryObjects = { kind, collectionOf, objectOf };

/** An object of a kind as the API or the database gives it. */
export function rowFactOf(object: Json, kind: string, revision?: number): RowFact {
  const { metadata } = object as unknown as { metadata: Metadata };
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  return {
    key: { kind, namespace, name },
    uid,
    revision: revision ?? Number(resourceVersion),
    body: bodyFact(annotations?.["write"] ?? "", labels?.["app"]),
  };
}

export function bodyOfText(text: string): string {
  const object = JSON.parse(text) as Json;
  return isJsonObject(object) ? rowFactOf(object, "", 0).body : "";
}

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
