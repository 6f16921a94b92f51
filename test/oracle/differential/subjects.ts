// The kinds that differential tests write, each with a generator of objects that are mostly valid.

import type { Json, JsonObject, Random } from "@keelson/base";

import { either, integer, keyed, mapOf, maybe, pick, record, someOf, type Part } from "./values.ts";

export interface Subject {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Whether strategic merge patches are understood. */
  readonly isBuiltIn: boolean;
  readonly hasStatus: boolean;
  /** What `/status` takes, and what it leaves alone. */
  readonly status?: {
    readonly make: (random: Random) => JsonObject;
    readonly reset: readonly (readonly string[])[];
  };
  /** Fields that the server fills in after it has noted who manages what. */
  readonly filledLate?: readonly (readonly [string, string])[];
  /** Everything but apiVersion, kind, name and namespace. */
  readonly make: (random: Random) => JsonObject;
}

const labels = mapOf(["app", "tier", "env", "example.com/team"], pick("a", "b", "c", ""));
const annotations = mapOf(["note", "example.com/x", "z"], pick("1", "2", "long text", ""));
const metadata = record({
  labels: maybe(labels),
  annotations: maybe(annotations),
  finalizers: maybe(someOf("example.com/f1", "example.com/f2", "example.com/f3"), 0.2),
  ownerReferences: maybe(
    keyed("uid", ["u-1", "u-2"], {
      apiVersion: pick("v1"),
      kind: pick("ConfigMap"),
      name: pick("o1", "o2"),
      controller: maybe(pick(false)),
    }),
    0.2,
  ),
});

const quantity = pick(
  "1",
  "500m",
  "1000m",
  "0.5",
  "128Mi",
  "1024Mi",
  "1Gi",
  "2e3",
  "1.5Gi",
  "100k",
);
const resources = record({
  limits: maybe(mapOf(["cpu", "memory"], pick("2", "2000m", "4Gi", "4096Mi"))),
  requests: maybe(mapOf(["cpu", "memory"], pick("1", "500m", "1000m", "0.5"))),
});
const environment = keyed("name", ["A", "B", "C", "D"], {}, 0);
const environmentWithValues: Part = (random) =>
  (environment(random) as readonly JsonObject[]).map((item) =>
    random.float() < 0.7
      ? { ...item, value: random.pick(["1", "2", ""]) }
      : {
          ...item,
          valueFrom: random.pick([
            { configMapKeyRef: { name: "c", key: "k" } },
            { secretKeyRef: { name: "s", key: "k", optional: true } },
            { fieldRef: { fieldPath: "metadata.name" } },
            { fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
            { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } },
          ]),
        },
  );
const ports: Part = (random) =>
  random
    .shuffle([80, 443, 8080])
    .slice(0, random.integer(4))
    .map((containerPort) => ({
      containerPort,
      ...(random.float() < 0.4 ? { protocol: random.pick(["TCP", "UDP"]) } : {}),
      ...(random.float() < 0.4 ? { name: `p${containerPort}` } : {}),
    }));
const probe = record({
  httpGet: record({
    path: maybe(pick("/", "/healthz")),
    port: pick(80, "http", 8080),
    scheme: maybe(pick("HTTP", "HTTPS")),
    httpHeaders: maybe(keyed("name", ["X-A", "X-B"], { value: pick("1", "2") })),
  }),
  periodSeconds: maybe(integer(1, 20)),
  initialDelaySeconds: maybe(integer(0, 5)),
});
const container = {
  image: pick("nginx:1", "nginx:2", "busybox"),
  command: maybe(pick(["sh"], ["sh", "-c"], [])),
  args: maybe(pick(["a", "b"], ["b", "a"])),
  env: maybe(environmentWithValues),
  ports: maybe(ports),
  resources: maybe(resources),
  livenessProbe: maybe(probe, 0.3),
  imagePullPolicy: maybe(pick("Always", "IfNotPresent")),
  volumeMounts: maybe(keyed("mountPath", ["/a", "/b"], { name: pick("v1") }), 0.3),
  securityContext: maybe(
    record({
      runAsUser: maybe(integer(0, 2000)),
      readOnlyRootFilesystem: maybe(pick(true, false)),
      capabilities: maybe(record({ add: maybe(someOf("NET_ADMIN", "SYS_TIME")) })),
    }),
    0.3,
  ),
} as const;
const podSpec = record({
  containers: keyed("name", ["web", "side", "log"], container, 1),
  initContainers: maybe(keyed("name", ["init-a", "init-b"], { image: pick("busybox") }), 0.3),
  volumes: (random) => [
    {
      name: "v1",
      ...random.pick<JsonObject>([
        { emptyDir: {} },
        { emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
        { configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
        { secret: { secretName: "s" } },
        { projected: { sources: [{ secret: { name: "x" } }] } },
      ]),
    },
  ],
  nodeSelector: maybe(mapOf(["disk", "zone"], pick("ssd", "a"))),
  serviceAccountName: maybe(pick("default", "other"), 0.2),
  terminationGracePeriodSeconds: maybe(integer(0, 60)),
  tolerations: maybe(
    pick(
      [{ key: "k", operator: "Exists" }],
      [{ key: "k", operator: "Equal", value: "v", effect: "NoSchedule" }],
    ),
  ),
  imagePullSecrets: maybe(keyed("name", ["s1", "s2"], {})),
  hostAliases: maybe(
    keyed("ip", ["127.0.0.1", "10.0.0.1"], { hostnames: pick(["a"], ["b", "a"]) }),
  ),
  topologySpreadConstraints: maybe(
    keyed("topologyKey", ["zone", "host"], {
      maxSkew: integer(1, 3),
      whenUnsatisfiable: pick("DoNotSchedule", "ScheduleAnyway"),
      labelSelector: pick({ matchLabels: { app: "x" } }),
    }),
    0.2,
  ),
  securityContext: maybe(
    record({ runAsNonRoot: maybe(pick(false)), fsGroup: maybe(integer(1, 9)) }),
  ),
  restartPolicy: maybe(pick("Always"), 0.2),
  dnsPolicy: maybe(pick("ClusterFirst", "Default")),
});
const podTemplate = (random: Random): JsonObject => ({
  metadata: {
    labels: { ...(labels(random) as JsonObject), app: "x" },
    ...(random.float() < 0.3 ? { annotations: annotations(random) as Json } : {}),
  },
  spec: podSpec(random),
});

function builtIn(
  [group, version, kind, plural]: readonly [string, string, string, string],
  make: (random: Random) => JsonObject,
  options: Partial<Subject> = {},
): Subject {
  return {
    group,
    version,
    kind,
    plural,
    isNamespaced: true,
    isBuiltIn: true,
    hasStatus: false,
    make: (random) => ({ metadata: metadata(random), ...make(random) }),
    ...options,
  };
}

/** The built-in kinds. */
export const builtInSubjects: readonly Subject[] = [
  builtIn(
    ["", "v1", "ConfigMap", "configmaps"],
    record({
      data: maybe(mapOf(["a", "b", "c.txt"], pick("1", "2", "", "line\nline")), 0.8),
      binaryData: maybe(mapOf(["x", "y"], pick("AAEC", "/w==")), 0.3),
    }),
  ),
  builtIn(
    ["", "v1", "Secret", "secrets"],
    record({ data: maybe(mapOf(["a", "b", "c"], pick("MQ==", "Mg==", "")), 0.9) }),
  ),
  builtIn(
    ["", "v1", "ServiceAccount", "serviceaccounts"],
    record({
      secrets: maybe(keyed("name", ["s1", "s2", "s3"], {})),
      imagePullSecrets: maybe(keyed("name", ["p1", "p2"], {})),
      automountServiceAccountToken: maybe(pick(true, false)),
    }),
  ),
  builtIn(
    ["", "v1", "Service", "services"],
    (random) => ({
      spec: {
        clusterIP: "None",
        ports: random
          .shuffle([80, 443, 53])
          .slice(0, 1 + random.integer(3))
          .map((port) => ({
            name: `p${port}`,
            port,
            ...(random.float() < 0.5 ? { targetPort: random.pick<Json>([8080, "http"]) } : {}),
            ...(random.float() < 0.3 ? { protocol: random.pick(["TCP", "UDP"]) } : {}),
          })),
        ...record({
          selector: maybe(labels),
          sessionAffinity: maybe(pick("None", "ClientIP")),
          publishNotReadyAddresses: maybe(pick(true)),
        })(random),
      },
    }),
    {
      hasStatus: true,
      filledLate: [
        ["spec", "clusterIP"],
        ["spec", "clusterIPs"],
        ["spec", "ipFamilies"],
        ["spec", "ipFamilyPolicy"],
      ],
    },
  ),
  builtIn(
    ["apps", "v1", "Deployment", "deployments"],
    (random) => ({
      spec: {
        selector: { matchLabels: { app: "x" } },
        template: podTemplate(random),
        ...record({
          replicas: maybe(integer(0, 4)),
          minReadySeconds: maybe(integer(0, 5)),
          paused: maybe(pick(true, false)),
          revisionHistoryLimit: maybe(integer(1, 10)),
          strategy: maybe(
            pick(
              { type: "Recreate" },
              { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } },
              { rollingUpdate: { maxSurge: "50%" } },
            ),
          ),
        })(random),
      },
    }),
    {
      hasStatus: true,
      status: {
        make: record({
          replicas: maybe(pick(5)),
          readyReplicas: maybe(integer(0, 5)),
          observedGeneration: maybe(integer(0, 3)),
          conditions: maybe(
            keyed("type", ["Available", "Progressing"], {
              status: pick("True", "False"),
              reason: maybe(pick("R1", "R2")),
              message: maybe(pick("m")),
            }),
          ),
        }),
        reset: [["spec"], ["metadata", "labels"]],
      },
    },
  ),
  builtIn(
    ["apps", "v1", "StatefulSet", "statefulsets"],
    (random) => ({
      spec: {
        selector: { matchLabels: { app: "x" } },
        serviceName: "svc",
        template: podTemplate(random),
        ...record({
          replicas: maybe(integer(0, 4)),
          updateStrategy: maybe(
            pick({ type: "OnDelete" }, { type: "RollingUpdate", rollingUpdate: { partition: 1 } }),
          ),
        })(random),
      },
    }),
    {
      hasStatus: true,
    },
  ),
  builtIn(
    ["batch", "v1", "CronJob", "cronjobs"],
    (random) => ({
      spec: {
        schedule: random.pick(["* * * * *", "@daily"]),
        jobTemplate: {
          spec: {
            template: {
              metadata: { labels: { app: "x" } },
              spec: { ...podSpec(random), restartPolicy: "OnFailure" },
            },
            ...(random.float() < 0.5 ? { backoffLimit: random.integer(5) } : {}),
          },
        },
        ...record({
          suspend: maybe(pick(true, false)),
          concurrencyPolicy: maybe(pick("Allow", "Forbid")),
          timeZone: maybe(pick("Etc/UTC")),
        })(random),
      },
    }),
    {
      hasStatus: true,
    },
  ),
  builtIn(["networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"], (random) => ({
    spec: {
      podSelector: random.pick<JsonObject>([{}, { matchLabels: { app: "x" } }]),
      ...record({
        policyTypes: maybe(pick(["Ingress"], ["Egress"], ["Ingress", "Egress"])),
        ingress: maybe(
          pick(
            [],
            [{ from: [{ podSelector: {} }] }],
            [{ ports: [{ port: 80 }, { port: "http" }] }],
          ),
        ),
        egress: maybe(pick([{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }])),
      })(random),
    },
  })),
  builtIn(
    ["networking.k8s.io", "v1", "Ingress", "ingresses"],
    (random) => ({
      spec: record({
        ingressClassName: maybe(pick("nginx", "other")),
        tls: maybe(pick([{ hosts: ["a"], secretName: "s" }], [])),
        rules: pick(
          [
            {
              host: "a.example.com",
              http: {
                paths: [
                  {
                    path: "/",
                    pathType: "Prefix",
                    backend: { service: { name: "s", port: { number: 80 } } },
                  },
                ],
              },
            },
          ],
          [
            {
              http: {
                paths: [
                  {
                    pathType: "ImplementationSpecific",
                    backend: { service: { name: "t", port: { name: "h" } } },
                  },
                ],
              },
            },
          ],
        ),
        defaultBackend: maybe(pick({ service: { name: "d", port: { number: 1 } } })),
      })(random),
    }),
    { hasStatus: true },
  ),
  builtIn(["rbac.authorization.k8s.io", "v1", "Role", "roles"], (random) => ({
    rules: random
      .shuffle<Json>([
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
        { apiGroups: ["apps"], resources: ["deployments"], verbs: ["*"] },
        { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["s"] },
      ])
      .slice(0, 1 + random.integer(3)),
  })),
  builtIn(
    ["autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"],
    (random) => ({
      spec: {
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: random.pick(["d", "e"]),
        },
        maxReplicas: 5 + random.integer(5),
        ...record({
          minReplicas: maybe(integer(1, 4)),
          metrics: maybe(
            pick(
              [
                {
                  type: "Resource",
                  resource: {
                    name: "cpu",
                    target: { type: "Utilization", averageUtilization: 70 },
                  },
                },
              ],
              [
                {
                  type: "Pods",
                  pods: {
                    metric: { name: "m" },
                    target: { type: "AverageValue", averageValue: "1" },
                  },
                },
              ],
            ),
          ),
          behavior: maybe(pick({ scaleDown: { stabilizationWindowSeconds: 60 } })),
        })(random),
      },
    }),
    {
      hasStatus: true,
    },
  ),
  builtIn(
    ["policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"],
    (random) => ({
      spec: {
        ...(random.float() < 0.5
          ? { minAvailable: random.pick<Json>([1, "50%"]) }
          : { maxUnavailable: random.pick<Json>([1, "10%"]) }),
        selector: random.pick<JsonObject>([
          { matchLabels: { app: "x" } },
          { matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] },
        ]),
      },
    }),
    {
      hasStatus: true,
    },
  ),
  builtIn(["", "v1", "LimitRange", "limitranges"], (random) => ({
    spec: {
      limits: random
        .shuffle<Json>([
          { type: "Container", max: { cpu: "2", memory: "4Gi" }, default: { cpu: "500m" } },
          { type: "Pod", max: { cpu: "4" } },
        ])
        .slice(0, 1 + random.integer(2)),
    },
  })),
  builtIn(
    ["", "v1", "ResourceQuota", "resourcequotas"],
    (random) => ({
      spec: record({
        hard: mapOf(["pods", "requests.cpu", "limits.memory", "count/secrets"], quantity),
      })(random),
    }),
    { hasStatus: true },
  ),
  builtIn(["coordination.k8s.io", "v1", "Lease", "leases"], (random) => ({
    spec: record({
      holderIdentity: maybe(pick("a", "b")),
      leaseDurationSeconds: maybe(integer(1, 60)),
      leaseTransitions: maybe(integer(0, 5)),
      renewTime: maybe(pick("2026-01-01T00:00:00.000000Z", "2026-01-02T03:04:05.678901Z")),
    })(random),
  })),
  builtIn(
    ["scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses"],
    record({
      value: pick(100),
      description: maybe(pick("x", "y")),
      globalDefault: maybe(pick(false)),
    }),
    { isNamespaced: false },
  ),
  builtIn(
    ["storage.k8s.io", "v1", "StorageClass", "storageclasses"],
    record({
      provisioner: pick("example.com/p"),
      parameters: pick({ a: "1" }),
      mountOptions: maybe(someOf("ro", "soft")),
      allowVolumeExpansion: maybe(pick(true, false)),
      allowedTopologies: maybe(
        pick([{ matchLabelExpressions: [{ key: "zone", values: ["a", "b"] }] }]),
      ),
    }),
    { isNamespaced: false },
  ),
];

/** A custom kind whose schema has every way to merge. */
export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.diff.example.com" },
  spec: {
    group: "diff.example.com",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  replicas: { type: "integer" },
                  ratio: { type: "number" },
                  name: { type: "string" },
                  on: { type: "boolean" },
                  maybe: { type: "string", nullable: true },
                  port: { "x-kubernetes-int-or-string": true },
                  items: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: {
                        name: { type: "string" },
                        value: { type: "string" },
                        inner: {
                          type: "object",
                          properties: { a: { type: "integer" }, b: { type: "integer" } },
                        },
                        tags: {
                          type: "array",
                          "x-kubernetes-list-type": "set",
                          items: { type: "string" },
                        },
                      },
                    },
                  },
                  pairs: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    items: {
                      type: "object",
                      required: ["port"],
                      properties: {
                        port: { type: "integer" },
                        protocol: { type: "string", default: "TCP" },
                        note: { type: "string" },
                      },
                    },
                  },
                  set: {
                    type: "array",
                    "x-kubernetes-list-type": "set",
                    items: { type: "string" },
                  },
                  numbers: {
                    type: "array",
                    "x-kubernetes-list-type": "set",
                    items: { type: "integer" },
                  },
                  atomicList: { type: "array", items: { type: "integer" } },
                  granular: { type: "object", additionalProperties: { type: "string" } },
                  nested: {
                    type: "object",
                    additionalProperties: {
                      type: "object",
                      additionalProperties: { type: "integer" },
                    },
                  },
                  atomicMap: {
                    type: "object",
                    "x-kubernetes-map-type": "atomic",
                    properties: { x: { type: "integer" }, y: { type: "integer" } },
                  },
                  open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  halfOpen: {
                    type: "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                    properties: {
                      known: { type: "integer" },
                      deep: { type: "object", properties: { k: { type: "string" } } },
                    },
                  },
                  defaulted: {
                    type: "object",
                    default: {},
                    properties: { level: { type: "string", default: "info" } },
                  },
                  template: {
                    type: "object",
                    "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                  },
                },
              },
              status: {
                type: "object",
                properties: {
                  replicas: { type: "integer" },
                  phase: { type: "string" },
                  conditions: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    items: {
                      type: "object",
                      required: ["type"],
                      properties: { type: { type: "string" }, status: { type: "string" } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** A custom kind of which nothing is known. */
export const blobDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "blobs.diff.example.com" },
  spec: {
    group: "diff.example.com",
    names: { plural: "blobs", singular: "blob", kind: "Blob", listKind: "BlobList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
} as const;

function custom(
  kind: string,
  plural: string,
  make: (random: Random) => JsonObject,
  status?: NonNullable<Subject["status"]>,
): Subject {
  return {
    ...(status === undefined ? {} : { status }),
    group: "diff.example.com",
    version: "v1",
    kind,
    plural,
    isNamespaced: true,
    isBuiltIn: false,
    hasStatus: status !== undefined,
    make: (random) => ({ metadata: metadata(random), ...make(random) }),
  };
}

const scalar = pick("text", "", 0, 1, -5, 1.5, true, false, 9007199254740991);
const anything: Part = either(
  scalar,
  pick([], [1, 2], ["a", null], {}, { a: 1 }, { a: { b: [1] } }, [{ a: 1 }, { b: 2 }]),
);

/** The custom kinds. */
export const customSubjects: readonly Subject[] = [
  custom(
    "Widget",
    "widgets",
    (random) => ({
      spec: record({
        replicas: maybe(integer(0, 9)),
        ratio: maybe(pick(0.5, 1, 2.25)),
        name: maybe(pick("a", "b")),
        on: maybe(pick(true, false)),
        maybe: maybe(pick("x", null)),
        port: maybe(pick(80, "http")),
        items: maybe(
          keyed("name", ["a", "b", "c", "d"], {
            value: maybe(pick("1", "2")),
            inner: maybe(record({ a: maybe(integer(0, 2)), b: maybe(integer(0, 2)) })),
            tags: maybe(someOf("t1", "t2", "t3")),
          }),
        ),
        pairs: maybe((random) =>
          random
            .shuffle([{ port: 80 }, { port: 80, protocol: "UDP" }, { port: 443, protocol: "TCP" }])
            .slice(0, random.integer(4))
            .map((pair) =>
              random.float() < 0.5 ? { ...pair, note: random.pick(["n", "m"]) } : pair,
            ),
        ),
        set: maybe(someOf("a", "b", "c", "d")),
        numbers: maybe(someOf(1, 2, 3)),
        atomicList: maybe(pick([], [1], [1, 2], [2, 1])),
        granular: maybe(mapOf(["a", "b", "c"], pick("1", "2"))),
        nested: maybe(mapOf(["a", "b"], mapOf(["x", "y"], integer(0, 2)))),
        atomicMap: maybe(record({ x: maybe(integer(0, 2)), y: maybe(integer(0, 2)) })),
        open: maybe(mapOf(["a", "b", "c"], anything)),
        halfOpen: maybe(
          record({
            known: maybe(integer(0, 2)),
            other: maybe(anything),
            deep: maybe(pick({ k: "1" }, { k: "2", more: 1 })),
          }),
        ),
        defaulted: maybe(record({ level: maybe(pick("debug", "info")) })),
        template: maybe(
          pick(
            { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { a: 1 } },
            { apiVersion: "v1", kind: "Pod", metadata: { name: "x", labels: { l: "1" } } },
          ),
        ),
      })(random),
    }),
    {
      make: record({
        replicas: maybe(integer(0, 5)),
        phase: maybe(pick("Ready", "Pending")),
        conditions: maybe(keyed("type", ["A", "B", "C"], { status: maybe(pick("True", "False")) })),
      }),
      reset: [["metadata"], ["spec"]],
    },
  ),
  custom(
    "Blob",
    "blobs",
    record({
      spec: maybe(mapOf(["a", "b", "c", "d"], anything), 0.9),
      status: maybe(mapOf(["p", "q"], anything), 0.3),
      other: maybe(anything),
    }),
  ),
];
