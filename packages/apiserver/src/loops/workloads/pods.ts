// Pods: made from templates, given a node, run, and let go.

import type { JsonObject } from "@keelson/base";
import { generateName } from "@keelson/kube";

import { objectAt, objectsAt, textAt } from "../../fields.ts";
import { staticNodeName } from "../../bootstrap/static-node.ts";
import {
  deletionGraceOf,
  isTerminating,
  metadataOf,
  nameOf,
  namespaceOf,
  ownersOf,
  uidOf,
} from "../../object-metadata.ts";
import { controllerOf, simulated, type Cluster } from "./cluster.ts";

/** A pod from the template of its controller. */
export function podFor(
  cluster: Cluster,
  owner: JsonObject,
  {
    name,
    labels = {},
    spec = {},
  }: {
    readonly name?: string;
    readonly labels?: JsonObject;
    readonly spec?: JsonObject;
  },
): JsonObject {
  const template = objectAt(owner, "spec", "template");
  const metadata = metadataOf(template);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...(name === undefined
        ? {
            name: generateName(`${nameOf(owner)}-`, cluster.random),
            generateName: `${nameOf(owner)}-`,
          }
        : { name }),
      namespace: namespaceOf(owner),
      labels: { ...objectAt(metadata, "labels"), ...labels },
      annotations: { ...objectAt(metadata, "annotations"), ...simulated },
      ownerReferences: [controllerOf(owner)],
    },
    spec: { ...objectAt(template, "spec"), ...spec },
  };
}

/** Whether a pod answers. */
export function isReady(pod: JsonObject): boolean {
  return objectsAt(objectAt(pod, "status"), "conditions").some(
    ({ type, status }) => type === "Ready" && status === "True",
  );
}

export function phaseOf(pod: JsonObject): string {
  return textAt(objectAt(pod, "status"), "phase");
}

/** Pods that count: neither over nor going. */
export function isActive(pod: JsonObject): boolean {
  return !isTerminating(pod) && phaseOf(pod) !== "Succeeded" && phaseOf(pod) !== "Failed";
}

/** Brings a pod one step further. */
export async function reconcilePod(
  cluster: Cluster,
  pod: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (isTerminating(pod)) {
    // Nothing runs that would need its grace.
    if (deletionGraceOf(pod) > 0) {
      await cluster.remove("Pod", pod, { gracePeriodSeconds: 0 }, signal);
    }
    return;
  }
  const spec = objectAt(pod, "spec");
  if (textAt(spec, "nodeName") === "") {
    if (objectsAt(spec, "schedulingGates").length > 0) return;
    await bind(cluster, pod, signal);
    return;
  }
  const node = cluster.find({ kind: "Node", namespace: "", name: textAt(spec, "nodeName") });
  // Only what is on nodes of ours is ours to run.
  if (objectAt(metadataOf(node ?? {}), "annotations")["keelson.dev/simulated"] !== "true") return;
  if (phaseOf(pod) === "Succeeded" || phaseOf(pod) === "Failed") return;
  await cluster.report("Pod", pod, (before) => running(cluster, pod, before), signal);
}

async function bind(cluster: Cluster, pod: JsonObject, signal: AbortSignal): Promise<void> {
  const wanted = objectAt(pod, "spec", "nodeSelector");
  const node = cluster.find({ kind: "Node", namespace: "", name: staticNodeName });
  if (node === undefined || isTerminating(node)) return;
  const labels = objectAt(metadataOf(node), "labels");
  const fits = Object.entries(wanted).every(([key, value]) => labels[key] === value);
  if (!fits) return;
  await cluster.bind(pod, staticNodeName, signal);
}

/** The status of a pod that runs, or of one that has done its work. */
function running(cluster: Cluster, pod: JsonObject, before: JsonObject): JsonObject {
  const { now } = cluster;
  const spec = objectAt(pod, "spec");
  const isWork = ownersOf(pod).some(({ kind }) => kind === "Job");
  const startTime = textAt(before, "startTime") || now;
  const statuses = objectsAt(spec, "containers").map((container) =>
    containerStatus(pod, container, { isDone: isWork, startTime, now }),
  );
  const initStatuses = objectsAt(spec, "initContainers").map((container) =>
    containerStatus(pod, container, { isDone: true, startTime, now }),
  );
  const condition = (type: string, is: boolean, reason?: string): JsonObject => ({
    type,
    status: is ? "True" : "False",
    ...(reason === undefined ? {} : { reason }),
    lastProbeTime: null,
    lastTransitionTime: now,
  });
  const done = isWork ? "PodCompleted" : undefined;
  const ip = textAt(before, "podIP") || addressOf(pod);
  return {
    ...before,
    phase: isWork ? "Succeeded" : "Running",
    conditions: [
      condition("PodReadyToStartContainers", !isWork),
      condition("Initialized", true, done),
      condition("Ready", !isWork, done),
      condition("ContainersReady", !isWork, done),
      condition("PodScheduled", true),
    ],
    startTime,
    hostIP: "127.0.0.1",
    hostIPs: [{ ip: "127.0.0.1" }],
    podIP: ip,
    podIPs: [{ ip }],
    containerStatuses: statuses,
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
  };
}

function containerStatus(
  pod: JsonObject,
  container: JsonObject,
  {
    isDone,
    startTime,
    now,
  }: { readonly isDone: boolean; readonly startTime: string; readonly now: string },
): JsonObject {
  const name = textAt(container, "name");
  const image = textAt(container, "image");
  const containerID = `keelson://${uidOf(pod)}/${name}`;
  const state: JsonObject = isDone
    ? {
        terminated: {
          exitCode: 0,
          reason: "Completed",
          startedAt: startTime,
          finishedAt: now,
          containerID,
        },
      }
    : { running: { startedAt: startTime } };
  return {
    name,
    image,
    imageID: "",
    containerID,
    ready: !isDone,
    started: !isDone,
    restartCount: 0,
    lastState: {},
    state,
  };
}

/** An address that follows from the pod's uid: the same after a restart, and seldom another's. */
function addressOf(pod: JsonObject): string {
  const digits = uidOf(pod).replaceAll("-", "");
  const part = (at: number): number => Number.parseInt(digits.slice(at, at + 2), 16) || 1;
  return `10.244.${part(0)}.${1 + (part(2) % 254)}`;
}
