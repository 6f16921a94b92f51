// Objects with a little of everything, for generated changes to work on.

import type { JsonObject } from "@keelson/base";

const podSpec: JsonObject = {
  containers: [
    {
      name: "c",
      image: "i",
      command: ["x"],
      ports: [{ name: "web", containerPort: 80, hostPort: 0 }],
      env: [
        { name: "A", value: "b" },
        { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "C", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
        { name: "D", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
      ],
      envFrom: [{ prefix: "P_", configMapRef: { name: "m" } }],
      resources: { requests: { cpu: "100m" }, limits: { cpu: "1", memory: "1Gi" } },
      volumeMounts: [{ name: "v", mountPath: "/v" }],
      livenessProbe: { httpGet: { path: "/", port: 80 }, periodSeconds: 3 },
      readinessProbe: { exec: { command: ["x"] } },
      startupProbe: { tcpSocket: { port: "web" } },
      lifecycle: { preStop: { exec: { command: ["x"] } } },
      securityContext: {
        runAsUser: 1,
        capabilities: { add: ["X"] },
        seccompProfile: { type: "RuntimeDefault" },
      },
    },
    { name: "d", image: "i" },
  ],
  initContainers: [{ name: "init", image: "i", restartPolicy: "Always" }],
  volumes: [
    { name: "v", emptyDir: {} },
    { name: "w", secret: { secretName: "s", items: [{ key: "k", path: "p" }] } },
    {
      name: "x",
      projected: { sources: [{ configMap: { name: "m", items: [{ key: "k", path: "p" }] } }] },
    },
    {
      name: "y",
      downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] },
    },
    { name: "z", persistentVolumeClaim: { claimName: "p" } },
  ],
  nodeSelector: { a: "b" },
  securityContext: { fsGroup: 1, sysctls: [{ name: "kernel.sem", value: "1" }] },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } },
        },
      ],
    },
  },
  tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule" }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "zone",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { a: "b" } },
    },
  ],
  hostAliases: [{ ip: "1.2.3.4", hostnames: ["a"] }],
  dnsConfig: { nameservers: ["1.2.3.4"], searches: ["a.b"], options: [{ name: "x" }] },
  imagePullSecrets: [{ name: "s" }],
  readinessGates: [{ conditionType: "a.b/c" }],
};

const template: JsonObject = { metadata: { labels: { app: "a" } }, spec: podSpec };
const selector: JsonObject = { matchLabels: { app: "a" } };
const jobSpec: JsonObject = {
  completionMode: "Indexed",
  completions: 3,
  parallelism: 2,
  backoffLimitPerIndex: 1,
  podFailurePolicy: {
    rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1, 2] } }],
  },
  successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 1 }] },
  template: {
    metadata: {},
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
  },
};
const claimSpec: JsonObject = {
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
  selector: { matchLabels: { a: "b" } },
  dataSource: { kind: "PersistentVolumeClaim", name: "x" },
};

/** By kind; the others start from their tables. */
export const richObjects: Readonly<Record<string, JsonObject>> = {
  "/v1/Pod": { spec: podSpec },
  "/v1/PodTemplate": { template },
  "/v1/ReplicationController": { spec: { replicas: 1, selector: { app: "a" }, template } },
  "apps/v1/Deployment": {
    spec: {
      selector,
      template,
      strategy: { rollingUpdate: { maxSurge: 1 } },
      progressDeadlineSeconds: 9,
    },
  },
  "apps/v1/DaemonSet": {
    spec: { selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } },
  },
  "apps/v1/StatefulSet": {
    spec: {
      serviceName: "s",
      selector,
      template,
      updateStrategy: { rollingUpdate: { partition: 1 } },
      ordinals: { start: 1 },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec }],
    },
  },
  "batch/v1/Job": { spec: jobSpec },
  "batch/v1/CronJob": {
    spec: { schedule: "1 2 3 4 5", timeZone: "UTC", jobTemplate: { spec: jobSpec } },
  },
  "/v1/PersistentVolumeClaim": { spec: claimSpec },
  "/v1/ResourceQuota": {
    spec: {
      hard: { pods: "1" },
      scopes: ["Terminating"],
      scopeSelector: {
        matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["x"] }],
      },
    },
  },
  "/v1/LimitRange": {
    spec: {
      limits: [{ type: "Container", max: { cpu: "2" }, min: { cpu: "1" }, default: { cpu: "1" } }],
    },
  },
  "/v1/Service": {
    spec: {
      clusterIP: "10.96.0.50",
      clusterIPs: ["10.96.0.50"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      selector: { a: "b" },
      ports: [
        { name: "web", port: 80, targetPort: "web" },
        { name: "other", port: 81 },
      ],
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 9 } },
    },
  },
};
