// What a cluster holds from its first moment, reconciled at each start (KB §2.1).

import type { Clock, JsonObject, Log, Random } from "@keelson/base";
import type { Store } from "@keelson/store";

import type { RbacKind } from "../auth/rbac/rbac-rules.ts";
import type { Objects } from "../objects.ts";
import { ensureOwnService } from "./own-service.ts";
import type { Patience } from "./patience.ts";
import { ensureBootstrapRbac, type RbacObjects } from "./rbac.ts";
import { ensureStaticNode } from "./static-node.ts";

export interface BootstrapOptions {
  readonly objects: Objects;
  readonly store: Store;
  readonly serviceRange: string;
  /** Whether there is a node of our own; not where somebody else brings nodes. */
  readonly hasNode: boolean;
  /** What is made is looked for first, so each step can be done again. */
  readonly patience: Patience;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Creates what is missing. Throws what `Patience` throws. */
export async function runBootstrap(options: BootstrapOptions, signal: AbortSignal): Promise<void> {
  const { objects, serviceRange: range, hasNode, patience, log } = options;
  for (const [group, version, plural, object] of contents) {
    const resource = objects.resource(group, version, plural);
    const make = (): Promise<boolean> => objects.ensure(resource, object, signal);
    await patience.of(`the first ${plural}`, make, signal);
  }
  const rbac = { objects: rbacObjects(objects), log };
  await patience.of("the first roles", () => ensureBootstrapRbac(rbac, signal), signal);
  const service = { ...options, range };
  await patience.of("the Service kubernetes", () => ensureOwnService(service, signal), signal);
  if (!hasNode) return;
  await patience.of("the node", () => ensureStaticNode(options, signal), signal);
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
