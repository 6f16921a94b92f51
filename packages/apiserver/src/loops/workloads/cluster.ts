// What the simulation sees and does: objects in memory, and writes through the same functions as everybody's.

import { jsonEqual, type Clock, type JsonObject, type Log, type Random } from "@keelson/base";
import { timeFromMs } from "@keelson/kube";

import { objectAt, objectsAt, textAt } from "../../fields.ts";
import type { Mirror } from "../../mirror.ts";
import type { Objects } from "../../objects.ts";
import { metadataOf, nameOf, namespaceOf, ownersOf, uidOf } from "../../object-metadata.ts";
import type { Resource } from "../../resources/resource.ts";

/** Said on whatever the simulation makes or runs. */
export const simulated = { "keelson.dev/simulated": "true" } as const;

/** The kinds that are simulated, by the store's names. */
export const workloadKinds = [
  "Deployment.apps",
  "ReplicaSet.apps",
  "StatefulSet.apps",
  "DaemonSet.apps",
  "Job.batch",
  "Pod",
  "Service",
  "Ingress.networking.k8s.io",
  "PersistentVolumeClaim",
  "Node",
] as const;

export type WorkloadKind = (typeof workloadKinds)[number];

const addresses: Readonly<Record<WorkloadKind, readonly [string, string, string]>> = {
  "Deployment.apps": ["apps", "v1", "deployments"],
  "ReplicaSet.apps": ["apps", "v1", "replicasets"],
  "StatefulSet.apps": ["apps", "v1", "statefulsets"],
  "DaemonSet.apps": ["apps", "v1", "daemonsets"],
  "Job.batch": ["batch", "v1", "jobs"],
  Pod: ["", "v1", "pods"],
  Service: ["", "v1", "services"],
  "Ingress.networking.k8s.io": ["networking.k8s.io", "v1", "ingresses"],
  PersistentVolumeClaim: ["", "v1", "persistentvolumeclaims"],
  Node: ["", "v1", "nodes"],
};

export interface ClusterOptions {
  readonly mirrors: Readonly<Record<WorkloadKind, Mirror>>;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** One object by its kind and name. */
export interface Reference {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

export class Cluster {
  readonly #options: ClusterOptions;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get random(): Random {
    return this.#options.random;
  }

  get now(): string {
    return timeFromMs(this.#options.clock.now());
  }

  resource(kind: WorkloadKind): Resource {
    const [group, version, plural] = addresses[kind];
    return this.#options.objects.resource(group, version, plural);
  }

  find({ kind, namespace, name }: Reference): JsonObject | undefined {
    return this.#options.mirrors[kind].get(namespace, name)?.object;
  }

  all(kind: WorkloadKind): readonly JsonObject[] {
    return [...this.#options.mirrors[kind].values()].map(({ object }) => object);
  }

  /** What an object controls. */
  controlledBy(owner: JsonObject, kind: WorkloadKind): readonly JsonObject[] {
    const uid = uidOf(owner);
    const namespace = namespaceOf(owner);
    return this.all(kind).filter(
      (object) =>
        namespaceOf(object) === namespace &&
        ownersOf(object).some((one) => one["controller"] === true && one["uid"] === uid),
    );
  }

  async create(kind: WorkloadKind, object: JsonObject, signal: AbortSignal): Promise<void> {
    await this.#options.objects.ensure(this.resource(kind), object, signal);
  }

  async remove(
    kind: WorkloadKind,
    object: JsonObject,
    options: { readonly gracePeriodSeconds?: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { objects } = this.#options;
    await objects.delete(
      this.resource(kind),
      placeOf(object),
      { uid: uidOf(object), ...options },
      signal,
    );
  }

  /** Gives a pod its node, as a scheduler does. */
  async bind(pod: JsonObject, nodeName: string, signal: AbortSignal): Promise<void> {
    const { now } = this;
    await this.#update(
      "Pod",
      { ...placeOf(pod), subresource: "binding" },
      (live) => {
        const status = objectAt(live, "status");
        const others = objectsAt(status, "conditions").filter(
          ({ type }) => type !== "PodScheduled",
        );
        const scheduled = {
          type: "PodScheduled",
          status: "True",
          lastProbeTime: null,
          lastTransitionTime: now,
        };
        return {
          ...annotated(live, simulated),
          spec: { ...objectAt(live, "spec"), nodeName },
          status: { ...status, conditions: [...others, scheduled] },
        };
      },
      signal,
    );
  }

  /** Changes an object; what is already so is left alone. */
  async change(
    kind: WorkloadKind,
    object: JsonObject,
    next: (live: JsonObject) => JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#update(kind, { ...placeOf(object), subresource: "" }, next, signal);
  }

  /** Says how an object is, and that this is simulated. Conditions keep their times as long as they say the same. */
  async report(
    kind: WorkloadKind,
    object: JsonObject,
    status: (before: JsonObject) => JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    const place = { ...placeOf(object), subresource: "status" };
    const { switches, statusWritesAnnotations = false } = this.resource(kind);
    const isOneWrite = switches.statusWritesMetadata || statusWritesAnnotations;
    // A24: first, so that it is not taken for real even for a moment.
    if (!isOneWrite) await this.change(kind, object, (live) => annotated(live, simulated), signal);
    await this.#update(
      kind,
      place,
      (live) => {
        const before = objectAt(live, "status");
        const marked = isOneWrite ? annotated(live, simulated) : live;
        return { ...marked, status: keepTimes(before, status(before)) };
      },
      signal,
    );
  }

  async #update(
    kind: WorkloadKind,
    place: { readonly namespace: string; readonly name: string; readonly subresource: string },
    next: (live: JsonObject) => JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#options.objects.update(
      this.resource(kind),
      place,
      (live) => {
        const changed = next(live);
        return jsonEqual(changed, live) ? undefined : changed;
      },
      signal,
    );
  }
}

export function placeOf(object: JsonObject): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceOf(object), name: nameOf(object) };
}

/** The reference by which an object controls another. */
export function controllerOf(owner: JsonObject): JsonObject {
  return {
    apiVersion: textAt(owner, "apiVersion"),
    kind: textAt(owner, "kind"),
    name: nameOf(owner),
    uid: uidOf(owner),
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** A condition that begins now, unless it says what it said before. */
export function condition(
  type: string,
  is: boolean,
  reason: string,
  message: string,
  now: string,
): JsonObject {
  return {
    type,
    status: is ? "True" : "False",
    reason,
    message,
    lastTransitionTime: now,
    lastUpdateTime: now,
  };
}

/** Annotations of an object, with more. */
export function annotated(object: JsonObject, more: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...objectAt(metadata, "annotations"), ...more } },
  };
}

const times = ["lastTransitionTime", "lastUpdateTime", "lastProbeTime"];

function keepTimes(before: JsonObject, after: JsonObject): JsonObject {
  const old = objectsAt(before, "conditions");
  const conditions = objectsAt(after, "conditions");
  if (conditions.length === 0) return after;
  return {
    ...after,
    conditions: conditions.map((one) => {
      const same = old.find(({ type, status }) => type === one["type"] && status === one["status"]);
      if (same === undefined) return one;
      const kept = times.filter((name) => one[name] !== undefined && same[name] !== undefined);
      return { ...one, ...Object.fromEntries(kept.map((name) => [name, same[name] ?? null])) };
    }),
  };
}
