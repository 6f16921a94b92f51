// Deployments and ReplicaSets.

import { createHash } from "node:crypto";

import { jsonEqual, writeJson, type JsonObject } from "@keelson/base";

import { numberAt, objectAt, textAt } from "../../fields.ts";
import {
  isTerminating,
  metadataNumber,
  metadataOf,
  metadataText,
  nameOf,
  namespaceOf,
} from "../../object-metadata.ts";
import { annotated, condition, controllerOf, simulated, type Cluster } from "./cluster.ts";
import { isActive, isReady, podFor } from "./pods.ts";

const revisionAnnotation = "deployment.kubernetes.io/revision";
const hashLabel = "pod-template-hash";

/** One ReplicaSet for each template that a Deployment has had; the newest runs. */
export async function reconcileDeployment(
  cluster: Cluster,
  deployment: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(deployment)) return;
  const spec = objectAt(deployment, "spec");
  const wanted = numberAt(spec, "replicas", 1);
  const sets = cluster.controlledBy(deployment, "ReplicaSet.apps");
  const current = sets.find((set) => isOf(set, deployment));
  const revision = Math.max(0, ...sets.map(revisionOf));
  if (spec["paused"] !== true) {
    const others = sets.filter((set) => set !== current);
    const number =
      current === undefined || revisionOf(current) < revision ? revision + 1 : revision;
    if (current === undefined) {
      await cluster.create("ReplicaSet.apps", replicaSetFor(deployment, number, wanted), signal);
    } else {
      await cluster.change(
        "ReplicaSet.apps",
        current,
        (live) => scaled(live, wanted, number),
        signal,
      );
      // The old ones go once the new one serves, so that somebody always does.
      const isServing = numberAt(objectAt(current, "status"), "availableReplicas") >= wanted;
      if (isServing) {
        for (const set of others) {
          await cluster.change("ReplicaSet.apps", set, (live) => scaled(live, 0), signal);
        }
        await forgetOld(cluster, deployment, others, signal);
      }
    }
    const said = { [revisionAnnotation]: String(number) };
    await cluster.change("Deployment.apps", deployment, (live) => annotated(live, said), signal);
  }
  await cluster.report(
    "Deployment.apps",
    deployment,
    () => deploymentStatus(cluster, deployment, { sets, current, wanted }),
    signal,
  );
}

function deploymentStatus(
  { now }: Cluster,
  deployment: JsonObject,
  {
    sets,
    current,
    wanted,
  }: {
    readonly sets: readonly JsonObject[];
    readonly current: JsonObject | undefined;
    readonly wanted: number;
  },
): JsonObject {
  const sum = (name: string): number =>
    sets.reduce((total, set) => total + numberAt(objectAt(set, "status"), name), 0);
  const updated = current === undefined ? 0 : numberAt(objectAt(current, "status"), "replicas");
  const available = sum("availableReplicas");
  const replicas = sum("replicas");
  const isDone = updated === wanted && available >= wanted && replicas === updated;
  const set = current === undefined ? nameOf(deployment) : nameOf(current);
  const counts = Object.entries({
    replicas,
    updatedReplicas: updated,
    readyReplicas: sum("readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
  }).filter(([, count]) => count > 0);
  return {
    observedGeneration: metadataNumber(deployment, "generation") ?? 0,
    ...Object.fromEntries(counts),
    conditions: [
      available >= wanted
        ? condition(
            "Available",
            true,
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
            now,
          )
        : condition(
            "Available",
            false,
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
            now,
          ),
      isDone
        ? condition(
            "Progressing",
            true,
            "NewReplicaSetAvailable",
            `ReplicaSet "${set}" has successfully progressed.`,
            now,
          )
        : condition(
            "Progressing",
            true,
            "ReplicaSetUpdated",
            `ReplicaSet "${set}" is progressing.`,
            now,
          ),
    ],
  };
}

async function forgetOld(
  cluster: Cluster,
  deployment: JsonObject,
  others: readonly JsonObject[],
  signal: AbortSignal,
): Promise<void> {
  const limit = numberAt(objectAt(deployment, "spec"), "revisionHistoryLimit", 10);
  const idle = others
    .filter((set) => numberAt(objectAt(set, "status"), "replicas") === 0)
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const set of idle.slice(0, Math.max(0, idle.length - limit))) {
    await cluster.remove("ReplicaSet.apps", set, {}, signal);
  }
}

function replicaSetFor(deployment: JsonObject, revision: number, replicas: number): JsonObject {
  const template = objectAt(deployment, "spec", "template");
  const hash = hashOf(template);
  const labels = { ...objectAt(metadataOf(template), "labels"), [hashLabel]: hash };
  const selector = objectAt(deployment, "spec", "selector");
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${nameOf(deployment)}-${hash}`,
      namespace: namespaceOf(deployment),
      labels,
      annotations: { ...simulated, [revisionAnnotation]: String(revision) },
      ownerReferences: [controllerOf(deployment)],
    },
    spec: {
      replicas,
      minReadySeconds: numberAt(objectAt(deployment, "spec"), "minReadySeconds"),
      selector: {
        ...selector,
        matchLabels: { ...objectAt(selector, "matchLabels"), [hashLabel]: hash },
      },
      template: { ...template, metadata: { ...metadataOf(template), labels } },
    },
  };
}

function scaled(set: JsonObject, replicas: number, revision?: number): JsonObject {
  const next = { ...set, spec: { ...objectAt(set, "spec"), replicas } };
  return revision === undefined
    ? next
    : annotated(next, { [revisionAnnotation]: String(revision) });
}

/** Whether a ReplicaSet was made from the template that the Deployment has now. */
function isOf(set: JsonObject, deployment: JsonObject): boolean {
  const template = objectAt(set, "spec", "template");
  const metadata = metadataOf(template);
  const { [hashLabel]: _, ...labels } = objectAt(metadata, "labels");
  const plain = { ...template, metadata: { ...metadata, labels } };
  return jsonEqual(plain, objectAt(deployment, "spec", "template"));
}

function revisionOf(set: JsonObject): number {
  return Number(textAt(objectAt(metadataOf(set), "annotations"), revisionAnnotation)) || 0;
}

/** Ten characters that a label takes, from the template. */
export function hashOf(template: JsonObject): string {
  const digest = createHash("sha256").update(writeJson(template)).digest();
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return [...digest.subarray(0, 10)].map((byte) => alphabet[byte % alphabet.length]).join("");
}

/** As many pods as are wanted, and a status that counts them. */
export async function reconcileReplicaSet(
  cluster: Cluster,
  set: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(set)) return;
  const wanted = numberAt(objectAt(set, "spec"), "replicas", 1);
  const pods = cluster.controlledBy(set, "Pod").filter(isActive);
  for (let missing = pods.length; missing < wanted; missing += 1) {
    await cluster.create("Pod", podFor(cluster, set, {}), signal);
  }
  const spare = pods
    .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)) || age(b).localeCompare(age(a)))
    .slice(0, Math.max(0, pods.length - wanted));
  for (const pod of spare) await cluster.remove("Pod", pod, {}, signal);
  const ready = pods.filter(isReady).length;
  await cluster.report(
    "ReplicaSet.apps",
    set,
    () => ({
      replicas: pods.length,
      ...(pods.length === 0 ? {} : { fullyLabeledReplicas: pods.length }),
      ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
      observedGeneration: metadataNumber(set, "generation") ?? 0,
    }),
    signal,
  );
}

function age(object: JsonObject): string {
  return metadataText(object, "creationTimestamp");
}
