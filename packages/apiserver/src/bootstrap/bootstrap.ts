// What a cluster holds from its first moment, reconciled at each start (KB §2.1).

import type { Clock, JsonObject, Log } from "@keelson/base";

import type { RbacKind } from "../auth/rbac/rbac-rules.ts";
import type { Objects } from "../objects.ts";
import { ensureOwnService } from "./own-service.ts";
import { ensureBootstrapRbac, type RbacObjects } from "./rbac.ts";
import { ensureStaticNode } from "./static-node.ts";

/** Creates what is missing. */
export async function runBootstrap(
  {
    objects,
    serviceRange,
    hasNode,
    clock,
    log,
  }: {
    readonly objects: Objects;
    readonly serviceRange: string;
    /** Whether there is a node of our own; not where somebody else brings nodes. */
    readonly hasNode: boolean;
    readonly clock: Clock;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<void> {
  for (const [group, version, plural, object] of contents) {
    await objects.ensure(objects.resource(group, version, plural), object, signal);
  }
  await ensureBootstrapRbac({ objects: rbacObjects(objects), log }, signal);
  await ensureOwnService({ objects, range: serviceRange }, signal);
  if (hasNode) await ensureStaticNode({ objects, clock }, signal);
}

/** Roles and bindings, by the same functions as everybody's. */
function rbacObjects(objects: Objects): RbacObjects {
  const plurals: Readonly<Record<RbacKind, string>> = {
    Role: "roles",
    RoleBinding: "rolebindings",
    ClusterRole: "clusterroles",
    ClusterRoleBinding: "clusterrolebindings",
  };
  const of = (kind: RbacKind) => objects.resource("rbac.authorization.k8s.io", "v1", plurals[kind]);
  return {
    find: (key, signal) => objects.find(of(key.kind), key, signal),
    create: (key, object, signal) => objects.ensure(of(key.kind), object, signal),
    update: (key, object, signal) => objects.update(of(key.kind), key, () => object, signal),
    delete: ({ uid, ...key }, signal) => objects.delete(of(key.kind), key, { uid }, signal),
  };
}

type Entry = readonly [group: string, version: string, plural: string, object: JsonObject];

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

const contents: readonly Entry[] = [
  ...namespaces.map((name): Entry => [
    "",
    "v1",
    "namespaces",
    { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  ]),
  priorityClass("system-node-critical", 2_000_001_000),
  priorityClass("system-cluster-critical", 2_000_000_000),
];

function priorityClass(name: string, value: number): Entry {
  const what = name === "system-node-critical" ? "node" : "cluster";
  return [
    "scheduling.k8s.io",
    "v1",
    "priorityclasses",
    {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name },
      value,
      description:
        what === "node"
          ? "Used for system critical pods that must not be moved from their current node."
          : "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    },
  ];
}
