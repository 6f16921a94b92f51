// Autoscalers, and what volumes are made from, with something wrong in them.

import type { Json, JsonObject } from "@keelson/base";

import { spec, type Change, type KindCases } from "./cases.ts";

const metrics = (...list: readonly JsonObject[]): Change => ({ "spec/metrics": list });
const resource = (target: JsonObject, more: JsonObject = {}): Change =>
  metrics({ type: "Resource", resource: { name: "cpu", target, ...more } });
const utilization = { type: "Utilization", averageUtilization: 50 };
const average = { type: "AverageValue", averageValue: "10" };
const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };
const scaleUp = (more: JsonObject): Change => ({
  "spec/behavior": {
    scaleUp: { policies: [{ type: "Pods", value: 4, periodSeconds: 60 }], ...more },
  },
});
const policy = (more: JsonObject): Change =>
  scaleUp({ policies: [{ type: "Pods", value: 4, periodSeconds: 60, ...more }] });
const driver = (more: JsonObject): Json => [{ name: "csi.example.com", nodeID: "one", ...more }];
const manyParameters = Object.fromEntries(
  Array.from({ length: 513 }, (_, index) => [`k${index}`, "v"]),
);
const topology = (...values: readonly Json[]): Change => ({
  allowedTopologies: values.map((matchLabelExpressions) => ({ matchLabelExpressions })),
});

const autoscalerCases: readonly Change[] = [
  {},
  spec({ minReplicas: 0 }),
  spec({ minReplicas: -1 }),
  spec({ minReplicas: 5 }),
  spec({ maxReplicas: 0 }),
  spec({ maxReplicas: -2 }),
  spec({ scaleTargetRef: undefined }),
  spec({ "scaleTargetRef/kind": "" }),
  spec({ "scaleTargetRef/kind": "a/b", "scaleTargetRef/name": ".." }),
  spec({ "scaleTargetRef/apiVersion": "v1" }),
  spec({ "scaleTargetRef/apiVersion": "" }),
  spec({ "scaleTargetRef/apiVersion": "a/b/c" }),
  spec({ "scaleTargetRef/apiVersion": "v1", "scaleTargetRef/kind": "ReplicationController" }),
];

const inlineVolume = {
  accessModes: ["ReadWriteOnce"],
  csi: { driver: "csi.example.com", volumeHandle: "one" },
};

/** Of a volume that an attachment says by itself. */
const inlineVolumes: readonly JsonObject[] = [
  inlineVolume,
  {},
  { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] },
  { ...inlineVolume, capacity: { storage: "-1" } },
  { ...inlineVolume, accessModes: [] },
  { ...inlineVolume, claimRef: { name: "c", namespace: "default" } },
  { ...inlineVolume, persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" },
  { ...inlineVolume, persistentVolumeReclaimPolicy: "Delete", volumeMode: "Block" },
  { ...inlineVolume, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
  { ...inlineVolume, hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" },
  { accessModes: ["ReadWriteOnce"], local: { path: "/a" } },
  { ...inlineVolume, storageClassName: "a" },
  { ...inlineVolume, volumeAttributesClassName: "" },
  { accessModes: ["ReadWriteOnce"], volumeAttributesClassName: "Bad" },
];

export const scaleStorageCases: readonly KindCases[] = [
  {
    kind: "autoscaling/v2/HorizontalPodAutoscaler",
    create: [
      ...autoscalerCases,
      metrics({}),
      metrics({ type: "Magic" }),
      metrics({ type: "Resource" }),
      metrics({ type: "Object" }),
      metrics({ type: "Pods", resource: { name: "cpu", target: utilization } }),
      metrics({
        type: "Resource",
        resource: { name: "cpu", target: utilization },
        pods: { metric: { name: "x" }, target: average },
      }),
      resource(utilization, { name: "" }),
      resource({}),
      resource({ type: "Share" }),
      resource({ ...utilization, averageValue: "5" }),
      resource({ type: "Utilization", averageUtilization: 0 }),
      resource({ type: "AverageValue", averageValue: "0" }),
      resource({ type: "AverageValue", averageValue: "-1500m" }),
      resource({ type: "Value", value: "-1" }),
      metrics({
        type: "Pods",
        pods: { metric: { name: "" }, target: { type: "Value", value: "1" } },
      }),
      metrics({ type: "Pods", pods: { metric: { name: "a/b" }, target: average } }),
      metrics({ type: "External", external: { metric: { name: "x" }, target: { type: "Value" } } }),
      metrics({
        type: "External",
        external: {
          metric: { name: "x" },
          target: { type: "Value", value: "1", averageValue: "1" },
        },
      }),
      metrics({
        type: "Object",
        object: { metric: { name: "x" }, describedObject, target: { type: "Value" } },
      }),
      metrics({
        type: "Object",
        object: {
          metric: { name: "x" },
          describedObject: { kind: "", name: "", apiVersion: "a/b/c" },
          target: average,
        },
      }),
      metrics({
        type: "ContainerResource",
        containerResource: { name: "", container: "", target: utilization },
      }),
      metrics({
        type: "ContainerResource",
        containerResource: { name: "gold", container: "Bad Name", target: { type: "Utilization" } },
      }),
      scaleUp({}),
      scaleUp({ stabilizationWindowSeconds: -1 }),
      scaleUp({ stabilizationWindowSeconds: 3601 }),
      scaleUp({ selectPolicy: "Most" }),
      scaleUp({ tolerance: "-1" }),
      scaleUp({ tolerance: "100m" }),
      policy({ type: "Nodes" }),
      policy({ value: 0 }),
      policy({ periodSeconds: 0 }),
      policy({ periodSeconds: 1801 }),
      {
        "spec/behavior": { scaleDown: { policies: [{ type: "", value: -1, periodSeconds: -1 }] } },
      },
      { "metadata/name": "Bad_Name" },
    ],
    update: [
      {},
      spec({ minReplicas: 0 }),
      spec({ maxReplicas: 0 }),
      spec({ "scaleTargetRef/apiVersion": "v1" }),
      spec({ "scaleTargetRef/name": "" }),
      resource({ type: "Utilization", averageUtilization: 0 }),
    ],
    status: [{}, { "status/currentReplicas": -1, "status/desiredReplicas": -1 }],
  },
  {
    kind: "autoscaling/v1/HorizontalPodAutoscaler",
    create: [
      ...autoscalerCases,
      spec({ targetCPUUtilizationPercentage: 0 }),
      spec({ targetCPUUtilizationPercentage: -5 }),
    ],
    update: [{}, spec({ minReplicas: -1 }), spec({ targetCPUUtilizationPercentage: 0 })],
    status: [{}, { "status/currentReplicas": -1, "status/desiredReplicas": -1 }],
  },
  {
    kind: "storage.k8s.io/v1/StorageClass",
    fields: () => ({ provisioner: "csi.example.com" }),
    create: [
      {},
      { provisioner: "" },
      { provisioner: "Bad Name" },
      { provisioner: "a/b/c" },
      { provisioner: "csi.example.com/\u0130" },
      { provisioner: "Upper.Example.com/X" },
      { parameters: { "": "x" } },
      { parameters: manyParameters },
      { parameters: { big: "x".repeat(262_145) } },
      { reclaimPolicy: "Recycle" },
      { reclaimPolicy: "" },
      { volumeBindingMode: "Later" },
      topology([{ key: "zone", values: ["a", "b"] }]),
      topology([{ key: "zone", values: [] }]),
      topology([{ key: "a b", values: ["a", "a"] }]),
      topology([
        { key: "zone", values: ["a"] },
        { key: "zone", values: ["b"] },
      ]),
      topology([{ key: "zone", values: ["a", "b"] }], [{ key: "zone", values: ["b", "a"] }]),
      topology([]),
      topology([], []),
      topology([{ key: "failure-domain.beta.kubernetes.io/zone", values: ["a"] }]),
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      { provisioner: "other.example.com" },
      { parameters: { a: "b" } },
      { reclaimPolicy: "Retain" },
      { volumeBindingMode: "WaitForFirstConsumer" },
      { volumeBindingMode: "x", reclaimPolicy: "y" },
      { allowVolumeExpansion: true },
    ],
  },
  {
    kind: "storage.k8s.io/v1/CSIDriver",
    fields: () => ({ spec: {} }),
    create: [
      {},
      spec({ fsGroupPolicy: "Some" }),
      spec({ tokenRequests: [{ audience: "a" }, { audience: "a" }] }),
      spec({ tokenRequests: [{ audience: "a", expirationSeconds: 599 }] }),
      spec({ tokenRequests: [{ audience: "a", expirationSeconds: 4_294_967_297 }] }),
      spec({ tokenRequests: [{ audience: "" }, { audience: "" }] }),
      spec({ tokenRequests: [{ audience: "a" }], serviceAccountTokenInSecrets: true }),
      spec({ serviceAccountTokenInSecrets: true }),
      spec({ serviceAccountTokenInSecrets: false }),
      spec({ volumeLifecycleModes: ["Persistent", "Eternal", "Ephemeral"] }),
      spec({ nodeAllocatableUpdatePeriodSeconds: 9 }),
      spec({ nodeAllocatableUpdatePeriodSeconds: 10 }),
      spec({ nodeAllocatableUpdatePeriodSeconds: -(2n ** 53n) - 1n }),
      spec({ preventPodSchedulingIfMissing: true }),
      { spec: undefined },
      { "metadata/name": "Bad_Name" },
    ],
    update: [
      {},
      spec({ attachRequired: false }),
      spec({ volumeLifecycleModes: ["Ephemeral"] }),
      spec({ fsGroupPolicy: "x" }),
      spec({ tokenRequests: [{ audience: "a" }] }),
      spec({ podInfoOnMount: true }),
    ],
  },
  {
    kind: "storage.k8s.io/v1/CSINode",
    fields: () => ({ spec: { drivers: driver({}) } }),
    create: [
      {},
      { spec: undefined },
      spec({ drivers: driver({ name: "" }) }),
      spec({ drivers: driver({ name: "Bad Name" }) }),
      spec({ drivers: driver({ name: `${"x".repeat(64)}.com` }) }),
      spec({ drivers: driver({ nodeID: "" }) }),
      spec({ drivers: driver({ nodeID: "x".repeat(257) }) }),
      spec({ drivers: driver({ allocatable: { count: -1 } }) }),
      spec({ drivers: driver({ allocatable: {} }) }),
      spec({ drivers: driver({ topologyKeys: ["a", "a"] }) }),
      spec({ drivers: driver({ topologyKeys: ["", "b c"] }) }),
      spec({ "drivers/-": { name: "csi.example.com", nodeID: "two" } }),
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      spec({ "drivers/0/nodeID": "two" }),
      spec({ "drivers/0/topologyKeys": ["a"] }),
      spec({ "drivers/0/topologyKeys": [] }),
      spec({ "drivers/0/allocatable": { count: 4 } }),
      spec({ drivers: [] }),
    ],
  },
  {
    kind: "storage.k8s.io/v1/VolumeAttachment",
    fields: () => ({
      spec: {
        attacher: "csi.example.com",
        nodeName: "one",
        source: { persistentVolumeName: "volume" },
      },
    }),
    create: [
      {},
      { spec: undefined },
      spec({ attacher: "" }),
      spec({ attacher: "Bad Name" }),
      spec({ attacher: `${"x".repeat(64)}.com` }),
      spec({ nodeName: "" }),
      spec({ nodeName: "Bad" }),
      spec({ source: {} }),
      spec({ source: { persistentVolumeName: "" } }),
      spec({ source: { persistentVolumeName: "Bad" } }),
      spec({ source: undefined }),
      spec({
        source: {
          persistentVolumeName: "a",
          inlineVolumeSpec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] },
        },
      }),
      ...inlineVolumes.map((inlineVolumeSpec) => spec({ source: { inlineVolumeSpec } })),
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      spec({ nodeName: "two" }),
      spec({ source: { persistentVolumeName: "other" } }),
      spec({ attacher: "" }),
    ],
    status: [
      {},
      { "status/attachError": { message: "x".repeat(1025) } },
      { "status/detachError": { message: "x", errorCode: -1 } },
      { "status/attachmentMetadata": { a: "x".repeat(262_144) } },
    ],
  },
  {
    kind: "storage.k8s.io/v1/CSIStorageCapacity",
    fields: () => ({
      storageClassName: "fast",
      capacity: "1Gi",
      nodeTopology: { matchLabels: { a: "b" } },
    }),
    create: [
      {},
      { storageClassName: "" },
      { storageClassName: "Bad" },
      { capacity: "-1" },
      { capacity: "x" },
      { nodeTopology: undefined },
      { nodeTopology: { matchLabels: { a: "b c" } } },
      { nodeTopology: { matchExpressions: [{ key: "a", operator: "Is" }] } },
      { nodeTopology: { matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] } },
      { nodeTopology: { matchLabels: { "beta.kubernetes.io/os": "linux" } } },
      {
        nodeTopology: {
          matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }],
        },
      },
      { maximumVolumeSize: "-1" },
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      { storageClassName: "slow" },
      { nodeTopology: undefined },
      { nodeTopology: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
      { capacity: "-5" },
    ],
  },
  {
    kind: "storage.k8s.io/v1/VolumeAttributesClass",
    fields: () => ({ driverName: "csi.example.com", parameters: { iops: "1" } }),
    create: [
      {},
      { driverName: "" },
      { driverName: "Bad Name" },
      { driverName: "a/b/c" },
      { parameters: undefined },
      { parameters: {} },
      { parameters: { "": "x" } },
      { parameters: manyParameters },
      { parameters: { a: "x".repeat(262_144) } },
      { driverName: "", parameters: {} },
      { "metadata/name": "Bad" },
      { "metadata/name": "a/b" },
    ],
    update: [
      {},
      { driverName: "other.example.com" },
      { parameters: { iops: "2" } },
      { parameters: {} },
      { driverName: "" },
    ],
  },
];
