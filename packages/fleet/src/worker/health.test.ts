import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { healthOf } from "./health.ts";

type Case = readonly [what: string, health: string, object: JsonObject];

const condition = (type: string, status: string, reason = "") => ({
  conditions: [{ type, status, reason }],
});
const done = {
  observedGeneration: 2,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
};
const object = (id: string, spec: JsonObject, status?: JsonObject): JsonObject => {
  const [apiVersion = "", kind = ""] = id.split(" ");
  const metadata = { name: "web", generation: 2 };
  return { apiVersion, kind, metadata, spec, ...(status === undefined ? {} : { status }) };
};
const deployment = (status: JsonObject, spec: JsonObject = {}) =>
  object("apps/v1 Deployment", { replicas: 3, ...spec }, status);
const statefulSet = (status: JsonObject, updateStrategy: JsonObject = {}) =>
  object("apps/v1 StatefulSet", { replicas: 3, updateStrategy }, status);
const daemonSet = (status: JsonObject) => object("apps/v1 DaemonSet", {}, status);
const job = (status: JsonObject, spec: JsonObject = {}) => object("batch/v1 Job", spec, status);
const pod = (status: JsonObject) => object("v1 Pod", {}, status);
const waiting = (name: string, reason: string) => ({
  phase: "Pending",
  [name]: [{ name: "app", state: { waiting: { reason } } }],
});
const definition = (status: JsonObject) =>
  object("apiextensions.k8s.io/v1 CustomResourceDefinition", {}, status);
const custom = (status: JsonObject) => object("example.com/v1 Widget", {}, status);
const scheduled = {
  observedGeneration: 2,
  desiredNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
};

const cases: readonly Case[] = [
  ["a paused Deployment", "Suspended", deployment({}, { paused: true })],
  [
    "a paused custom resource is not known to be one",
    "Healthy",
    object("x.io/v1 W", { paused: true }),
  ],
  ["a suspended Job", "Suspended", job({}, { suspend: true })],
  ["a suspended CronJob", "Suspended", object("batch/v1 CronJob", { suspend: true })],
  ["a CronJob that goes on", "Healthy", object("batch/v1 CronJob", { suspend: false })],

  [
    "a rollout that takes too long",
    "Degraded",
    deployment({ ...done, ...condition("Progressing", "False", "ProgressDeadlineExceeded") }),
  ],
  [
    "replicas that cannot be made",
    "Degraded",
    deployment({ ...done, ...condition("ReplicaFailure", "True") }),
  ],
  [
    "replicas that could be made",
    "Healthy",
    deployment({ ...done, ...condition("ReplicaFailure", "False") }),
  ],
  ["a failed Job", "Degraded", job(condition("Failed", "True"))],
  ["a failed Pod", "Degraded", pod({ phase: "Failed" })],
  [
    "a Pod that crashes again and again",
    "Degraded",
    pod(waiting("containerStatuses", "CrashLoopBackOff")),
  ],
  [
    "an image that cannot be had",
    "Degraded",
    pod(waiting("containerStatuses", "ImagePullBackOff")),
  ],
  [
    "the same at its beginning",
    "Degraded",
    pod(waiting("initContainerStatuses", "ImagePullBackOff")),
  ],
  [
    "a claim whose volume is lost",
    "Degraded",
    object("v1 PersistentVolumeClaim", {}, { phase: "Lost" }),
  ],
  [
    "a definition whose names are taken",
    "Degraded",
    definition(condition("NamesAccepted", "False")),
  ],
  ["what says that it is stuck", "Degraded", custom(condition("Stalled", "True"))],

  [
    "what is being deleted",
    "Progressing",
    { ...custom({}), metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
  ],
  ["a change that its controller has not seen", "Progressing", custom({ observedGeneration: 1 })],
  ["one that it has seen", "Healthy", custom({ observedGeneration: 2 })],
  ["a Deployment without a status", "Progressing", deployment({})],
  ["replicas that are not all updated", "Progressing", deployment({ ...done, updatedReplicas: 2 })],
  ["old replicas that are still there", "Progressing", deployment({ ...done, replicas: 4 })],
  [
    "replicas that are not all available",
    "Progressing",
    deployment({ ...done, availableReplicas: 2 }),
  ],
  ["all of them", "Healthy", deployment(done)],
  ["none, if none is wanted", "Healthy", deployment({ observedGeneration: 2 }, { replicas: 0 })],
  [
    "one is wanted unless it is said",
    "Progressing",
    object("apps/v1 Deployment", {}, { observedGeneration: 2 }),
  ],
  ["a StatefulSet that is updated", "Progressing", statefulSet({ ...done, updatedReplicas: 1 })],
  ["a StatefulSet that was updated", "Healthy", statefulSet(done)],
  [
    "one that is updated from a partition on",
    "Healthy",
    statefulSet({ ...done, updatedReplicas: 1 }, { rollingUpdate: { partition: 2 } }),
  ],
  [
    "one that is not yet",
    "Progressing",
    statefulSet({ ...done, updatedReplicas: 1 }, { rollingUpdate: { partition: 1 } }),
  ],
  [
    "one whose Pods somebody deletes by hand",
    "Healthy",
    statefulSet({ ...done, updatedReplicas: 0 }, { type: "OnDelete" }),
  ],
  [
    "a ReplicaSet with too few",
    "Progressing",
    object("apps/v1 ReplicaSet", { replicas: 3 }, { ...done, availableReplicas: 1 }),
  ],
  [
    "a ReplicaSet with all",
    "Healthy",
    object(
      "apps/v1 ReplicaSet",
      { replicas: 3 },
      { observedGeneration: 2, replicas: 3, availableReplicas: 3 },
    ),
  ],
  ["a DaemonSet that nobody has scheduled", "Progressing", daemonSet({ observedGeneration: 2 })],
  [
    "a DaemonSet that is updated",
    "Progressing",
    daemonSet({ ...scheduled, updatedNumberScheduled: 1 }),
  ],
  [
    "a DaemonSet that is not available everywhere",
    "Progressing",
    daemonSet({ ...scheduled, numberAvailable: 1 }),
  ],
  ["a DaemonSet that is", "Healthy", daemonSet(scheduled)],
  ["a Job that runs", "Progressing", job({ active: 1 })],
  ["a Job that is done", "Healthy", job(condition("Complete", "True"))],
  [
    "a Pod that is not ready",
    "Progressing",
    pod({ phase: "Running", ...condition("Ready", "False") }),
  ],
  ["a Pod that nobody runs yet", "Progressing", pod({ phase: "Pending" })],
  ["a Pod that is ready", "Healthy", pod({ phase: "Running", ...condition("Ready", "True") })],
  [
    "a Pod that has done its work",
    "Healthy",
    pod({ phase: "Succeeded", ...condition("Ready", "False") }),
  ],
  [
    "a claim that waits for its volume",
    "Progressing",
    object("v1 PersistentVolumeClaim", {}, { phase: "Pending" }),
  ],
  ["a claim that has it", "Healthy", object("v1 PersistentVolumeClaim", {}, { phase: "Bound" })],
  [
    "a load balancer without an address",
    "Progressing",
    object("v1 Service", { type: "LoadBalancer" }, { loadBalancer: {} }),
  ],
  [
    "a load balancer with one",
    "Healthy",
    object(
      "v1 Service",
      { type: "LoadBalancer" },
      { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } },
    ),
  ],
  [
    "a Service of the cluster",
    "Healthy",
    object("v1 Service", { type: "ClusterIP" }, { loadBalancer: {} }),
  ],
  [
    "a definition that is not established",
    "Progressing",
    definition(condition("Established", "False")),
  ],
  ["a definition that is", "Healthy", definition(condition("Established", "True"))],
  ["what says that it is not ready", "Progressing", custom(condition("Ready", "False", "Waiting"))],
  ["what says that it is at work", "Progressing", custom(condition("Reconciling", "True"))],
  ["what says that it is ready", "Healthy", custom(condition("Ready", "True"))],
  ["what nobody knows to be ready", "Healthy", custom(condition("Ready", "Unknown"))],
  ["a kind without a status", "Healthy", object("v1 ConfigMap", {})],
  [
    "a status that is no object",
    "Healthy",
    { ...object("example.com/v1 Widget", {}), status: "fine" },
  ],

  [
    "the first that matches: suspended before degraded",
    "Suspended",
    deployment({ ...done, ...condition("ReplicaFailure", "True") }, { paused: true }),
  ],
  [
    "degraded before progressing",
    "Degraded",
    deployment({ ...done, updatedReplicas: 0, ...condition("ReplicaFailure", "True") }),
  ],
];

suite("how an object is, by its own status", () => {
  for (const [what, health, shown] of cases) {
    test(`${health}: ${what}`, () => {
      assert.equal(healthOf(shown).health, health);
    });
  }

  test("says why, in the words of whoever knows", () => {
    const said = { type: "Ready", status: "False", message: "the volume is full", reason: "Full" };
    assert.equal(healthOf(custom({ conditions: [said] })).message, "the volume is full");
    assert.equal(healthOf(custom(condition("Ready", "False", "Full"))).message, "Full");
    assert.equal(
      healthOf(deployment({ ...done, availableReplicas: 1 })).message,
      "1 of 3 replicas are available",
    );
    assert.equal(
      healthOf(deployment({ ...done, replicas: 4 })).message,
      "one old replica is to go",
    );
  });
});
