// What is known of a kind before any cluster is asked: its version, and whether its objects live in namespaces.

import type { BuiltinKinds } from "@keelson/kube";

/** The version that is meant where none is given; of rows that SQL writes, 0012-usual-versions.sql says the same. */
const usualVersions: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  ReplicaSet: "apps/v1",
  Service: "v1",
  ConfigMap: "v1",
  Secret: "v1",
  Pod: "v1",
  Namespace: "v1",
  Ingress: "networking.k8s.io/v1",
  NetworkPolicy: "networking.k8s.io/v1",
  Job: "batch/v1",
  CronJob: "batch/v1",
};

/** The kinds that need no version, for messages. */
export const kindsWithoutVersion: readonly string[] = Object.keys(usualVersions);

export function usualVersionOf(kind: string): string | undefined {
  return Object.hasOwn(usualVersions, kind) ? usualVersions[kind] : undefined;
}

/** Whether objects of a built-in kind have a namespace; undefined for any other kind. */
export function scopeOf(
  kinds: BuiltinKinds,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): "namespaced" | "cluster" | undefined {
  const group = groupOf(apiVersion);
  // By group: versions of a kind do not differ in this, and we may not know theirs.
  const found = kinds.all.find((one) => one.group === group && one.kind === kind);
  if (found === undefined) return undefined;
  return found.isNamespaced ? "namespaced" : "cluster";
}

/** `apps` of `apps/v1`; nothing of `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
