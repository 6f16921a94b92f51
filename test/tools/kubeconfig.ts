import type { JsonObject } from "@keelson/base";

/** A kubeconfig of one cluster and one user. */
export function kubeconfigOf(cluster: JsonObject, user: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
}
