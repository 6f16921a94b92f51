// The loops of a standalone server. Each runs on one replica at a time.

import { type Clock, type Log, type Random, TaskScope } from "@keelson/base";
import type { Store } from "@keelson/store";

import { runApiServices } from "../apiservices/api-services.ts";
import { runAggregation } from "../auth/rbac/aggregation-loop.ts";
import { runDefinitions } from "../crds/definitions.ts";
import { runServiceRepair } from "../effects/service-repair.ts";
import type { Mirrors } from "../mirrors.ts";
import type { Objects } from "../objects.ts";
import type { Registry } from "../resources/registry.ts";
import { exclusively } from "./exclusive.ts";
import { runGarbageCollector } from "./garbage-collector.ts";
import { runNamespaceContents } from "./namespace-contents.ts";
import { runNamespaces } from "./namespaces.ts";
import { Workloads } from "./workloads/workloads.ts";

export interface LoopsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly scope: TaskScope;
  readonly registry: Registry;
  readonly mirrors: Mirrors;
  /** Objects as a loop of this name sees and writes them, for this field manager. */
  readonly loop: (name: string, manager: string) => Objects;
  readonly rootCertificate: string;
  readonly simulatesWorkloads: boolean;
}

const controllerManager = "kube-controller-manager";
const aggregation = "clusterrole-aggregation-controller";

/** Starts them all in the scope. */
export function spawnLoops(options: LoopsOptions): void {
  const { store, clock, random, log, scope, registry, mirrors, loop } = options;
  const shared = { registry, clock, random, log };
  const once = (name: string, work: (signal: AbortSignal) => Promise<void>): void => {
    scope.spawn(name, (signal) => exclusively({ store, clock, random, log, name }, work, signal));
  };
  const { namespaces, definitions, apiServices, serviceAccounts, rootConfigMaps } = mirrors;
  once("definitions", (signal) =>
    runDefinitions(
      { ...shared, definitions, objects: loop("definition-controller", "kube-apiserver") },
      signal,
    ),
  );
  once("api services", (signal) =>
    runApiServices(
      { ...shared, apiServices, objects: loop("api-service-controller", "kube-apiserver") },
      signal,
    ),
  );
  once("namespaces", (signal) =>
    runNamespaces(
      { ...shared, namespaces, objects: loop("namespace-controller", controllerManager) },
      signal,
    ),
  );
  once("namespace contents", (signal) =>
    runNamespaceContents(
      {
        ...shared,
        namespaces,
        serviceAccounts,
        configMaps: rootConfigMaps,
        objects: loop("namespace-contents", controllerManager),
        rootCertificate: options.rootCertificate,
      },
      signal,
    ),
  );
  once("garbage collector", (signal) =>
    runGarbageCollector(
      { ...shared, store, objects: loop("garbage-collector", controllerManager) },
      signal,
    ),
  );
  once("service repair", (signal) => runServiceRepair({ store, clock, random, log }, signal));
  if (options.simulatesWorkloads) {
    once("workloads", async (signal) => {
      await using within = new TaskScope(signal);
      const objects = loop("simulated-workloads", controllerManager);
      const workloads = new Workloads({ store, objects, clock, random, log, scope: within });
      await workloads.run(within.signal);
    });
  }
  once("cluster role aggregation", (signal) => {
    const objects = loop(aggregation, aggregation);
    const roles = objects.resource("rbac.authorization.k8s.io", "v1", "clusterroles");
    return runAggregation(
      {
        ...shared,
        clusterRoles: mirrors.rbac.ClusterRole,
        write: ({ name, rules }, within) =>
          objects.update(roles, { namespace: "", name }, (live) => ({ ...live, rules }), within),
      },
      signal,
    );
  });
}
