// StatefulSets, DaemonSets and Jobs.

import type { JsonObject } from "@keelson/base";

import { numberAt, objectAt, objectsAt, textAt } from "../../fields.ts";
import {
  isTerminating,
  labelsOf,
  metadataNumber,
  metadataOf,
  nameOf,
  namespaceOf,
} from "../../object-metadata.ts";
import { condition, simulated, type Cluster } from "./cluster.ts";
import { isActive, isReady, phaseOf, podFor } from "./pods.ts";
import { hashOf } from "./replicas.ts";

const revisionLabel = "controller-revision-hash";

/** Pods with numbers, one after the other. */
export async function reconcileStatefulSet(
  cluster: Cluster,
  set: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(set)) return;
  const spec = objectAt(set, "spec");
  const wanted = numberAt(spec, "replicas", 1);
  const first = numberAt(objectAt(spec, "ordinals"), "start");
  const revision = `${nameOf(set)}-${hashOf(objectAt(spec, "template"))}`;
  const pods = cluster.controlledBy(set, "Pod");
  const byName = new Map(pods.map((pod) => [nameOf(pod), pod]));
  const isParallel = textAt(spec, "podManagementPolicy") === "Parallel";
  for (let index = first; index < first + wanted; index += 1) {
    const name = `${nameOf(set)}-${index}`;
    const pod = byName.get(name);
    if (pod === undefined) {
      await createMember(cluster, set, { name, index, revision }, signal);
    } else if (labelsOf(pod)[revisionLabel] !== revision && isActive(pod)) {
      await cluster.remove("Pod", pod, {}, signal);
    }
    const stands = pod !== undefined && isReady(pod) && !isTerminating(pod);
    if (!isParallel && !stands) break;
  }
  const names = new Set(
    Array.from({ length: wanted }, (_, index) => `${nameOf(set)}-${first + index}`),
  );
  for (const pod of pods) {
    if (!names.has(nameOf(pod)) && isActive(pod)) await cluster.remove("Pod", pod, {}, signal);
  }
  const active = pods.filter(isActive);
  const updated = active.filter((pod) => labelsOf(pod)[revisionLabel] === revision);
  const ready = active.filter(isReady).length;
  await cluster.report(
    "StatefulSet.apps",
    set,
    () => ({
      observedGeneration: metadataNumber(set, "generation") ?? 0,
      replicas: active.length,
      availableReplicas: ready,
      ...(ready === 0 ? {} : { readyReplicas: ready }),
      ...(updated.length === 0
        ? {}
        : { currentReplicas: updated.length, updatedReplicas: updated.length }),
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    }),
    signal,
  );
}

async function createMember(
  cluster: Cluster,
  set: JsonObject,
  {
    name,
    index,
    revision,
  }: { readonly name: string; readonly index: number; readonly revision: string },
  signal: AbortSignal,
): Promise<void> {
  const spec = objectAt(set, "spec");
  const claims = objectsAt(spec, "volumeClaimTemplates");
  const volumes: JsonObject[] = [];
  for (const claim of claims) {
    const claimName = `${nameOf(claim)}-${name}`;
    await cluster.create(
      "PersistentVolumeClaim",
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: {
          name: claimName,
          namespace: namespaceOf(set),
          labels: objectAt(spec, "selector", "matchLabels"),
          annotations: simulated,
        },
        spec: objectAt(claim, "spec"),
      },
      signal,
    );
    volumes.push({ name: nameOf(claim), persistentVolumeClaim: { claimName } });
  }
  const own = objectsAt(objectAt(spec, "template", "spec"), "volumes").filter(
    (volume) => !volumes.some((one) => one["name"] === volume["name"]),
  );
  const pod = podFor(cluster, set, {
    name,
    labels: {
      [revisionLabel]: revision,
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(index),
    },
    spec: {
      hostname: name,
      ...(textAt(spec, "serviceName") === "" ? {} : { subdomain: textAt(spec, "serviceName") }),
      ...(own.length + volumes.length === 0 ? {} : { volumes: [...own, ...volumes] }),
    },
  });
  await cluster.create("Pod", pod, signal);
}

/** A pod on every simulated node. */
export async function reconcileDaemonSet(
  cluster: Cluster,
  set: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(set)) return;
  const revision = hashOf(objectAt(set, "spec", "template"));
  const selector = objectAt(set, "spec", "template", "spec", "nodeSelector");
  const nodes = cluster
    .all("Node")
    .filter((node) => objectAt(metadataOf(node), "annotations")["keelson.dev/simulated"] === "true")
    .filter((node) =>
      Object.entries(selector).every(([key, value]) => labelsOf(node)[key] === value),
    );
  const pods = cluster.controlledBy(set, "Pod").filter(isActive);
  for (const node of nodes) {
    const mine = pods.filter((pod) => textAt(objectAt(pod, "spec"), "nodeName") === nameOf(node));
    const current = mine.find((pod) => labelsOf(pod)[revisionLabel] === revision);
    for (const pod of mine) if (pod !== current) await cluster.remove("Pod", pod, {}, signal);
    if (current !== undefined) continue;
    const labels = { [revisionLabel]: revision, "pod-template-generation": "1" };
    const pod = podFor(cluster, set, { labels, spec: { nodeName: nameOf(node) } });
    await cluster.create("Pod", pod, signal);
  }
  const ready = pods.filter(isReady).length;
  const updated = pods.filter((pod) => labelsOf(pod)[revisionLabel] === revision).length;
  await cluster.report(
    "DaemonSet.apps",
    set,
    () => ({
      currentNumberScheduled: pods.length,
      numberMisscheduled: 0,
      desiredNumberScheduled: nodes.length,
      numberReady: ready,
      ...(ready === 0 ? {} : { numberAvailable: ready }),
      ...(updated === 0 ? {} : { updatedNumberScheduled: updated }),
      observedGeneration: metadataNumber(set, "generation") ?? 0,
    }),
    signal,
  );
}

/** Pods that do their work and end. */
export async function reconcileJob(
  cluster: Cluster,
  job: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const spec = objectAt(job, "spec");
  const isOver = objectsAt(objectAt(job, "status"), "conditions").some(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  if (isTerminating(job) || isOver || spec["suspend"] === true) return;
  const wanted = numberAt(spec, "completions", numberAt(spec, "parallelism", 1));
  const parallelism = numberAt(spec, "parallelism", 1);
  const pods = cluster.controlledBy(job, "Pod");
  const succeeded = pods.filter((pod) => phaseOf(pod) === "Succeeded").length;
  const active = pods.filter(isActive).length;
  const missing = Math.min(parallelism - active, wanted - succeeded - active);
  for (let made = 0; made < missing; made += 1) {
    await cluster.create("Pod", podFor(cluster, job, {}), signal);
  }
  const { now } = cluster;
  const isDone = succeeded >= wanted;
  await cluster.report(
    "Job.batch",
    job,
    (before) => ({
      ...before,
      startTime: textAt(before, "startTime") || now,
      ...(succeeded === 0 ? {} : { succeeded }),
      ...(isDone ? { completionTime: now, active: 0 } : { active: Math.max(active, missing, 0) }),
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      ...(isDone ? { conditions: doneConditions(now) } : {}),
    }),
    signal,
  );
}

function doneConditions(now: string): readonly JsonObject[] {
  const message = "Reached expected number of succeeded pods";
  return ["SuccessCriteriaMet", "Complete"].map((type) => {
    const { lastUpdateTime: _, ...rest } = condition(
      type,
      true,
      "CompletionsReached",
      message,
      now,
    );
    return { ...rest, lastProbeTime: now };
  });
}
