// Small objects that cases begin with.

import type { Json, JsonObject } from "@keelson/base";

export function configMap(
  name: string,
  data: JsonObject = { a: "1" },
  metadata: JsonObject = {},
): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function secret(name: string, metadata: JsonObject = {}, rest: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, ...metadata },
    type: "Opaque",
    ...rest,
  };
}

/** Without a token in it, so that nothing is chosen at random. */
export function pod(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "main:1" }],
      ...spec,
    },
  };
}

export function podTemplate(labels: JsonObject = { app: "x" }, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { labels },
    spec: { containers: [{ name: "main", image: "main:1" }], ...spec },
  };
}

export function deployment(
  name: string,
  spec: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...metadata },
    spec: { selector: { matchLabels: { app: "x" } }, template: podTemplate(), ...spec },
  };
}

export function service(name: string, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ name: "http", port: 80 }], selector: { app: "x" }, ...spec },
  };
}

export interface DefinitionOptions {
  readonly group: string;
  readonly kind: string;
  readonly schema?: JsonObject;
  readonly scope?: "Namespaced" | "Cluster";
  /** Members of the version besides its schema. */
  readonly version?: JsonObject;
  readonly spec?: JsonObject;
}

/** A CustomResourceDefinition with one version, `v1`. */
export function definition({
  group,
  kind,
  schema,
  scope,
  version,
  spec,
}: DefinitionOptions): JsonObject {
  const singular = kind.toLowerCase();
  const openAPIV3Schema: Json = schema ?? {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: scope ?? "Namespaced",
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...version },
      ],
      ...spec,
    },
  };
}

export function serviceAccount(name: string): JsonObject {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } };
}
