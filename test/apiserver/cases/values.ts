// Objects of many kinds with values that their rules refuse.

import type { Json, JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { deployment } from "../objects.ts";

const containers = [{ name: "a", image: "a" }];
const template = (labels: JsonObject): JsonObject => ({
  metadata: { labels },
  spec: { containers },
});

const scripts: Record<string, Script> = {
  ...casesFor(
    {
      "replicas negative": { spec: { replicas: -1 } },
      "replicas a text": { spec: { replicas: "1" } },
      "replicas large": { spec: { replicas: 2_147_483_648 } },
      "no selector": { spec: { selector: null } },
      "an empty selector": { spec: { selector: {} } },
      "selector and labels differ": { spec: { selector: { matchLabels: { app: "y" } } } },
      "a bad expression": {
        spec: { selector: { matchExpressions: [{ key: "app", operator: "Near" }] } },
      },
      "no containers": {
        spec: { template: { metadata: { labels: { app: "x" } }, spec: { containers: [] } } },
      },
      "a bad restart policy": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] },
          },
        },
      },
      "two containers of a name": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                { name: "a", image: "a" },
                { name: "a", image: "b" },
              ],
            },
          },
        },
      },
      "no image": {
        spec: {
          template: { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "a" }] } },
        },
      },
      "a bad name": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "A_b", image: "a" }] },
          },
        },
      },
      "a bad port": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  ports: [{ containerPort: 0 }, { containerPort: 99_999, protocol: "FOO" }],
                },
              ],
            },
          },
        },
      },
      "a bad quantity": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [{ name: "a", image: "a", resources: { limits: { cpu: "lots" } } }],
            },
          },
        },
      },
      "requests beyond limits": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  resources: { limits: { cpu: "1" }, requests: { cpu: "2" } },
                },
              ],
            },
          },
        },
      },
      "an unknown volume": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                { name: "a", image: "a", volumeMounts: [{ name: "v", mountPath: "/v" }] },
              ],
            },
          },
        },
      },
      "a bad strategy": { spec: { strategy: { type: "Sideways" } } },
      "recreate with rolling": {
        spec: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
      },
      "nothing unavailable": {
        spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      },
      "a bad percentage": { spec: { strategy: { rollingUpdate: { maxSurge: "x%" } } } },
      "a deadline too short": { spec: { minReadySeconds: 10, progressDeadlineSeconds: 5 } },
      "env from nothing": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  env: [
                    {
                      name: "1=2",
                      value: "x",
                      valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
                    },
                  ],
                },
              ],
            },
          },
        },
      },
      "a probe without action": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "a", image: "a", livenessProbe: { periodSeconds: -1 } }] },
          },
        },
      },
      "spec is a text": { spec: "x" },
      "no spec": { spec: null },
      "numbers as floats": { spec: { replicas: 1.0 } },
    },
    "deployment: %",
    async (lab, change) => {
      const good = deployment("d");
      const spec = change["spec"];
      const body =
        typeof spec === "object" && spec !== null
          ? { ...good, spec: { ...(good["spec"] as JsonObject), ...(spec as JsonObject) } }
          : { ...good, spec: spec as Json };
      await lab.post(lab.group("apps/v1", "deployments"), body);
    },
  ),
  ...casesFor<readonly [string, string, string, JsonObject | undefined, JsonObject?]>(
    {
      "Ingress without backend": [
        "networking.k8s.io/v1",
        "ingresses",
        "Ingress",
        { rules: [{ http: { paths: [{ path: "x", pathType: "Prefix" }] } }] },
      ],
      "Ingress empty": ["networking.k8s.io/v1", "ingresses", "Ingress", {}],
      "CronJob with a bad schedule": [
        "batch/v1",
        "cronjobs",
        "CronJob",
        {
          schedule: "whenever",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] },
              },
            },
          },
        },
      ],
      "CronJob with a time zone in it": [
        "batch/v1",
        "cronjobs",
        "CronJob",
        {
          schedule: "TZ=UTC 0 0 * * *",
          timeZone: "Nowhere/Land",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Always", containers: [{ name: "a", image: "a" }] },
              },
            },
          },
        },
      ],
      "Job that restarts": [
        "batch/v1",
        "jobs",
        "Job",
        {
          template: { spec: { restartPolicy: "Always", containers } },
        },
      ],
      "Job with negative numbers": [
        "batch/v1",
        "jobs",
        "Job",
        {
          parallelism: -1,
          completions: -1,
          backoffLimit: -1,
          template: { spec: { restartPolicy: "Never", containers } },
        },
      ],
      "StatefulSet without a service": [
        "apps/v1",
        "statefulsets",
        "StatefulSet",
        {
          selector: { matchLabels: { a: "b" } },
          template: template({ a: "b" }),
        },
      ],
      "DaemonSet with a bad strategy": [
        "apps/v1",
        "daemonsets",
        "DaemonSet",
        {
          updateStrategy: { type: "X" },
          selector: { matchLabels: { a: "b" } },
          template: template({ a: "b" }),
        },
      ],
      "PodDisruptionBudget with both": [
        "policy/v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        { minAvailable: 1, maxUnavailable: 1 },
      ],
      "HPA without bounds": [
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        { scaleTargetRef: { kind: "Deployment", name: "d" }, minReplicas: 5, maxReplicas: 1 },
      ],
      "NetworkPolicy with a bad type": [
        "networking.k8s.io/v1",
        "networkpolicies",
        "NetworkPolicy",
        { podSelector: {}, policyTypes: ["Sideways"] },
      ],
      "Lease with a negative time": [
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        { leaseDurationSeconds: -1, leaseTransitions: -1 },
      ],
      "Lease with a bad time": [
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        { renewTime: "2026-01-01" },
      ],
      "Role without verbs": [
        "rbac.authorization.k8s.io/v1",
        "roles",
        "Role",
        undefined,
        { rules: [{ apiGroups: [""], resources: ["pods"] }] },
      ],
      "Role with paths": [
        "rbac.authorization.k8s.io/v1",
        "roles",
        "Role",
        undefined,
        { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
      ],
      "RoleBinding without role": [
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        undefined,
        { subjects: [{ kind: "User", name: "u" }] },
      ],
      "RoleBinding with a bad subject": [
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        undefined,
        {
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
          subjects: [{ kind: "Robot", name: "u" }],
        },
      ],
      "EndpointSlice without addresses": [
        "discovery.k8s.io/v1",
        "endpointslices",
        "EndpointSlice",
        undefined,
        { addressType: "IPv9", endpoints: [{ addresses: [] }] },
      ],
      "ResourceQuota with a bad quantity": [
        "v1",
        "resourcequotas",
        "ResourceQuota",
        { hard: { pods: "many" } },
      ],
      "LimitRange upside down": [
        "v1",
        "limitranges",
        "LimitRange",
        { limits: [{ type: "Container", max: { cpu: "1" }, min: { cpu: "2" } }] },
      ],
      "PersistentVolumeClaim without anything": [
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        {},
      ],
      "Endpoints with a bad address": [
        "v1",
        "endpoints",
        "Endpoints",
        undefined,
        { subsets: [{ addresses: [{ ip: "x" }], ports: [{ port: 0 }] }] },
      ],
      "Event elsewhere": [
        "v1",
        "events",
        "Event",
        undefined,
        { involvedObject: { kind: "Pod", namespace: "elsewhere", name: "p" } },
      ],
      "ServiceAccount with odd secrets": [
        "v1",
        "serviceaccounts",
        "ServiceAccount",
        undefined,
        { secrets: [{ name: "" }], imagePullSecrets: [{}] },
      ],
      "ReplicaSet with labels that differ": [
        "apps/v1",
        "replicasets",
        "ReplicaSet",
        {
          selector: { matchLabels: { a: "b" } },
          template: template({ a: "c" }),
        },
      ],
      "ControllerRevision without data": [
        "apps/v1",
        "controllerrevisions",
        "ControllerRevision",
        undefined,
        { revision: -1 },
      ],
    },
    "%",
    async (lab, [groupVersion, plural, kind, spec, rest]) => {
      const path = groupVersion === "v1" ? lab.core(plural) : lab.group(groupVersion, plural);
      const body = {
        apiVersion: groupVersion,
        kind,
        metadata: { name: "x" },
        ...(spec === undefined ? {} : { spec }),
        ...rest,
      };
      await lab.post(path, body);
    },
  ),
};

export const valueCases = casesOf("values", scripts);
