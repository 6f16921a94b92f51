// The kinds that are asked for on every request, or followed by a loop: in memory.

import type { Clock, Log, Random, TaskScope } from "@keelson/base";
import type { Selector, Store } from "@keelson/store";

import { apiServiceKind } from "./apiservices/unserved-versions.ts";
import { rbacStoreKinds } from "./auth/rbac/rbac-authorizer.ts";
import type { RbacKind } from "./auth/rbac/rbac-rules.ts";
import { definitionKind } from "./crds/definitions.ts";
import { Mirror } from "./mirror.ts";

export interface MirrorsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** All of them, following the store until the scope ends. */
export class Mirrors {
  readonly namespaces: Mirror;
  readonly serviceAccounts: Mirror;
  /** Those that hold our certificate; no other ConfigMap. */
  readonly rootConfigMaps: Mirror;
  readonly definitions: Mirror;
  readonly apiServices: Mirror;
  readonly priorityClasses: Mirror;
  readonly storageClasses: Mirror;
  readonly ingressClasses: Mirror;
  readonly rbac: Readonly<Record<RbacKind, Mirror>>;
  /** Resolves when every one of them is there. */
  readonly ready: Promise<void>;

  constructor(options: MirrorsOptions, scope: TaskScope) {
    const all: Mirror[] = [];
    const mirror = (kind: string, selector: Selector = {}): Mirror => {
      const made = new Mirror({ ...options, kind, selector });
      scope.spawn(`mirror ${kind}`, (signal) => made.run(signal));
      all.push(made);
      return made;
    };
    this.namespaces = mirror("Namespace");
    this.serviceAccounts = mirror("ServiceAccount");
    this.rootConfigMaps = mirror("ConfigMap", {
      fields: [{ path: ["metadata", "name"], operator: "Equals", value: "kube-root-ca.crt" }],
    });
    this.definitions = mirror(definitionKind);
    this.apiServices = mirror(apiServiceKind);
    this.priorityClasses = mirror("PriorityClass.scheduling.k8s.io");
    this.storageClasses = mirror("StorageClass.storage.k8s.io");
    this.ingressClasses = mirror("IngressClass.networking.k8s.io");
    this.rbac = {
      Role: mirror(rbacStoreKinds.Role),
      RoleBinding: mirror(rbacStoreKinds.RoleBinding),
      ClusterRole: mirror(rbacStoreKinds.ClusterRole),
      ClusterRoleBinding: mirror(rbacStoreKinds.ClusterRoleBinding),
    };
    this.ready = Promise.all(all.map((one) => one.ready)).then(() => undefined);
  }
}
