// The simulated-workload loop: without kubelets, workloads become what a healthy cluster would make of them.

import {
  untilAbort,
  type Clock,
  type JsonObject,
  type Log,
  type Random,
  type TaskScope,
} from "@keelson/base";
import type { Store } from "@keelson/store";

import { Mirror } from "../../mirror.ts";
import type { Objects } from "../../objects.ts";
import { ownersOf } from "../../object-metadata.ts";
import { KeyQueue } from "../key-queue.ts";
import { reconcileClaim, reconcileIngress, reconcileService } from "./addresses.ts";
import { Cluster, workloadKinds, type WorkloadKind } from "./cluster.ts";
import { reconcilePod } from "./pods.ts";
import { reconcileDeployment, reconcileReplicaSet } from "./replicas.ts";
import { reconcileDaemonSet, reconcileJob, reconcileStatefulSet } from "./sets.ts";

export interface WorkloadsOptions {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the mirrors run. */
  readonly scope: TaskScope;
}

type Reconcile = (cluster: Cluster, object: JsonObject, signal: AbortSignal) => Promise<void>;

const reconcilers: Readonly<Partial<Record<WorkloadKind, Reconcile>>> = {
  "Deployment.apps": reconcileDeployment,
  "ReplicaSet.apps": reconcileReplicaSet,
  "StatefulSet.apps": reconcileStatefulSet,
  "DaemonSet.apps": reconcileDaemonSet,
  "Job.batch": reconcileJob,
  Pod: reconcilePod,
  Service: reconcileService,
  "Ingress.networking.k8s.io": reconcileIngress,
  PersistentVolumeClaim: reconcileClaim,
};

const kindsOfOwners: Readonly<Record<string, WorkloadKind>> = {
  Deployment: "Deployment.apps",
  ReplicaSet: "ReplicaSet.apps",
  StatefulSet: "StatefulSet.apps",
  DaemonSet: "DaemonSet.apps",
  Job: "Job.batch",
};

/** Follows the workloads; `run` brings them along. */
export class Workloads {
  readonly #mirrors: Readonly<Record<WorkloadKind, Mirror>>;
  readonly #queue: KeyQueue;

  constructor({ store, objects, clock, random, log, scope }: WorkloadsOptions) {
    const made = workloadKinds.map((kind) => {
      const mirror = new Mirror({ store, clock, random, log, kind });
      scope.spawn(`mirror ${kind} for workloads`, (signal) => mirror.run(signal));
      return [kind, mirror] as const;
    });
    this.#mirrors = Object.fromEntries(made) as Record<WorkloadKind, Mirror>;
    const cluster = new Cluster({ mirrors: this.#mirrors, objects, clock, random, log });
    this.#queue = new KeyQueue({
      name: "workloads",
      clock,
      random,
      log,
      workers: 4,
      look: async (key, signal) => {
        const [kind = "Pod", namespace = "", name = ""] = key.split("|");
        const workload = kind as WorkloadKind; // Only such keys are ever added, below.
        const object = cluster.find({ kind: workload, namespace, name });
        if (object !== undefined) await reconcilers[workload]?.(cluster, object, signal);
        return undefined;
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    using following = new DisposableStack();
    for (const kind of workloadKinds) {
      const mirror = this.#mirrors[kind];
      await untilAbort(mirror.ready, signal);
      following.use(
        mirror.onChange((change) => {
          const entry = change.type === "set" ? change.entry : change.previous;
          if (change.type === "set") this.#add(kind, entry.key);
          this.#addOwners(entry.key.namespace, entry.object);
          if (kind === "Node") this.#addAll(["Pod", "DaemonSet.apps"]);
        }),
      );
    }
    this.#addAll(workloadKinds);
    await this.#queue.run(signal);
  }

  #addAll(kinds: readonly WorkloadKind[]): void {
    for (const kind of kinds) {
      for (const { key } of this.#mirrors[kind].values()) this.#add(kind, key);
    }
  }

  #add(kind: WorkloadKind, { namespace, name }: { namespace: string; name: string }): void {
    if (reconcilers[kind] !== undefined) this.#queue.add(`${kind}|${namespace}|${name}`);
  }

  #addOwners(namespace: string, object: JsonObject): void {
    for (const { kind, name } of ownersOf(object)) {
      const owner = typeof kind === "string" ? kindsOfOwners[kind] : undefined;
      if (owner !== undefined && typeof name === "string") this.#add(owner, { namespace, name });
    }
  }
}
