// The least that each stored kind accepts, and one change it allows.

import { authority, certificateRequest, otherAuthority } from "./fixed-pem.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface MinimalObject {
  /** Where the API has a say in the name: the n-th valid one. */
  readonly name?: (n: number) => string;
  /** Everything but `apiVersion`, `kind` and `metadata`. */
  readonly fields: Fields | ((name: string) => Fields);
  /** A merge patch that changes something outside metadata and status; none where nothing may change. */
  readonly change?: Fields;
  /** A status that may be sent, where the schema alone does not lead to one. */
  readonly status?: Fields;
}

const labels = { app: "minimal" };
const podSpec = { containers: [{ name: "main", image: "main:1" }] };
const template = { metadata: { labels }, spec: podSpec };
const selector = { matchLabels: labels };
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "minimal" };
const devices = {
  requests: [{ name: "one", exactly: { deviceClassName: "minimal", allocationMode: "All" } }],
};
const webhook = {
  name: "minimal.example.com",
  clientConfig: { service: { namespace: "default", name: "minimal" } },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const policyRules = {
  resourceRules: [
    {
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      operations: ["CREATE"],
      resources: ["deployments"],
    },
  ],
};

/** By `group/version/kind`; every kind that is stored has one. */
export const minimalObjects: Readonly<Record<string, MinimalObject>> = {
  "/v1/ConfigMap": { fields: { data: { key: "value" } }, change: { data: { key: "other" } } },
  "/v1/Endpoints": {
    fields: { subsets: [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 80 }] }] },
    change: { subsets: [] },
  },
  "/v1/Event": {
    fields: { involvedObject: { namespace: "NAMESPACE" } },
    change: { reason: "Changed" },
  },
  "/v1/LimitRange": {
    fields: { spec: { limits: [{ type: "Pod" }] } },
    change: { spec: { limits: [{ type: "Container" }] } },
  },
  "/v1/Namespace": { fields: {} },
  "/v1/Node": { fields: {}, change: { spec: { unschedulable: true } } },
  "/v1/PersistentVolume": {
    fields: {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/minimal" },
      },
    },
    change: { spec: { persistentVolumeReclaimPolicy: "Delete" } },
  },
  "/v1/PersistentVolumeClaim": {
    fields: {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    change: { spec: { volumeName: "minimal" } },
  },
  "/v1/Pod": {
    // On a node, because only such a Pod is deleted gracefully.
    fields: { spec: { ...podSpec, nodeName: "nowhere" } },
    change: { spec: { activeDeadlineSeconds: 60 } },
  },
  "/v1/PodTemplate": { fields: { template }, change: { template: { spec: { hostname: "x" } } } },
  "/v1/ReplicationController": {
    fields: { spec: { selector: labels, template } },
    change: { spec: { replicas: 2 } },
  },
  "/v1/ResourceQuota": {
    fields: { spec: { hard: { pods: "5" } } },
    change: { spec: { hard: { pods: "6" } } },
    status: { hard: { pods: "7" } },
  },
  "/v1/Secret": { fields: { data: { key: "dmFsdWU=" } }, change: { data: { key: "b3RoZXI=" } } },
  "/v1/Service": {
    fields: { spec: { ports: [{ port: 80 }] } },
    change: { spec: { selector: labels } },
  },
  "/v1/ServiceAccount": { fields: {}, change: { automountServiceAccountToken: false } },
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": {
    fields: {
      spec: {
        matchConstraints: policyRules,
        reinvocationPolicy: "Never",
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: { expression: "Object{}" },
          },
        ],
      },
    },
    change: { spec: { failurePolicy: "Ignore" } },
  },
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": {
    fields: { spec: { policyName: "minimal" } },
    change: { spec: { matchResources: {} } },
  },
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": {
    fields: { webhooks: [webhook] },
    change: { webhooks: [] },
  },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {
    fields: {
      spec: { matchConstraints: policyRules, validations: [{ expression: "true" }] },
    },
    change: { spec: { failurePolicy: "Ignore" } },
  },
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": {
    fields: { spec: { policyName: "minimal", validationActions: ["Deny"] } },
    change: { spec: { validationActions: ["Warn"] } },
  },
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": {
    fields: { webhooks: [webhook] },
    change: { webhooks: [] },
  },
  "apiextensions.k8s.io/v1/CustomResourceDefinition": {
    name: (n) => `minimals.m${n}.example.com`,
    fields: (name) => ({
      spec: {
        group: name.slice(name.indexOf(".") + 1),
        scope: "Namespaced",
        names: { plural: "minimals", kind: "Minimal" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
          },
        ],
      },
    }),
    change: { spec: { names: { shortNames: ["mini"] } } },
  },
  "apiregistration.k8s.io/v1/APIService": {
    name: (n) => `v1.m${n}.example.com`,
    fields: (name) => ({
      spec: {
        group: name.slice(name.indexOf(".") + 1),
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 10,
      },
    }),
    change: { spec: { versionPriority: 20 } },
  },
  "apps/v1/ControllerRevision": {
    fields: { data: {}, revision: 1 },
    change: { revision: 2 },
  },
  "apps/v1/DaemonSet": {
    fields: { spec: { selector, template } },
    change: { spec: { minReadySeconds: 1 } },
  },
  "apps/v1/Deployment": {
    fields: { spec: { selector, template } },
    change: { spec: { replicas: 2 } },
  },
  "apps/v1/ReplicaSet": {
    fields: { spec: { selector, template } },
    change: { spec: { replicas: 2 } },
  },
  "apps/v1/StatefulSet": {
    fields: { spec: { selector, template } },
    change: { spec: { replicas: 2 } },
  },
  "autoscaling/v1/HorizontalPodAutoscaler": {
    fields: { spec: { maxReplicas: 3, scaleTargetRef } },
    change: { spec: { maxReplicas: 4 } },
  },
  "autoscaling/v2/HorizontalPodAutoscaler": {
    fields: { spec: { maxReplicas: 3, scaleTargetRef } },
    change: { spec: { maxReplicas: 4 } },
  },
  "batch/v1/CronJob": {
    fields: {
      spec: {
        schedule: "0 0 * * *",
        jobTemplate: {
          spec: { template: { spec: { ...podSpec, restartPolicy: "Never" } } },
        },
      },
    },
    change: { spec: { suspend: true } },
    status: { lastScheduleTime: "2026-01-01T00:00:00Z" },
  },
  "batch/v1/Job": {
    fields: { spec: { template: { spec: { ...podSpec, restartPolicy: "Never" } } } },
    change: { spec: { suspend: true } },
  },
  "certificates.k8s.io/v1/CertificateSigningRequest": {
    fields: {
      spec: {
        signerName: "example.com/minimal",
        usages: ["client auth"],
        request: Buffer.from(certificateRequest).toString("base64"),
      },
    },
  },
  "certificates.k8s.io/v1beta1/ClusterTrustBundle": {
    name: (n) => `example.com:minimal:m${n}`,
    fields: {
      spec: {
        signerName: "example.com/minimal",
        trustBundle: authority,
      },
    },
    change: {
      spec: { trustBundle: otherAuthority },
    },
  },
  "coordination.k8s.io/v1/Lease": {
    fields: { spec: { holderIdentity: "minimal" } },
    change: { spec: { holderIdentity: "other" } },
  },
  "coordination.k8s.io/v1beta1/LeaseCandidate": {
    fields: {
      spec: {
        leaseName: "minimal",
        binaryVersion: "1.0.0",
        emulationVersion: "1.0.0",
        strategy: "OldestEmulationVersion",
      },
    },
    change: { spec: { binaryVersion: "1.1.0" } },
  },
  "discovery.k8s.io/v1/EndpointSlice": {
    fields: { addressType: "IPv4", endpoints: [] },
    change: { ports: [{ name: "web", port: 80 }] },
  },
  "events.k8s.io/v1/Event": {
    fields: {
      regarding: { namespace: "NAMESPACE" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "minimal",
      reportingInstance: "minimal-1",
      action: "Test",
      reason: "Minimal",
      type: "Normal",
    },
    change: {
      series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" },
    },
  },
  "flowcontrol.apiserver.k8s.io/v1/FlowSchema": {
    fields: { spec: { priorityLevelConfiguration: { name: "global-default" } } },
    change: { spec: { matchingPrecedence: 500 } },
  },
  "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": {
    fields: { spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
    change: { spec: { limited: { nominalConcurrencyShares: 5 } } },
  },
  "internal.apiserver.k8s.io/v1alpha1/StorageVersion": {
    name: (n) => `minimal.m${n}`,
    fields: { spec: {} },
  },
  "networking.k8s.io/v1/IPAddress": {
    name: (n) => `192.0.2.${n + 10}`,
    fields: {
      spec: { parentRef: { resource: "services", name: "minimal", namespace: "default" } },
    },
  },
  "networking.k8s.io/v1/Ingress": {
    fields: {
      spec: { defaultBackend: { service: { name: "minimal", port: { number: 80 } } } },
    },
    change: { spec: { ingressClassName: "minimal" } },
  },
  "networking.k8s.io/v1/IngressClass": {
    fields: { spec: { controller: "example.com/minimal" } },
    change: { spec: { parameters: { apiGroup: "example.com", kind: "P", name: "p" } } },
  },
  "networking.k8s.io/v1/NetworkPolicy": {
    fields: { spec: { podSelector: {} } },
    change: { spec: { podSelector: { matchLabels: labels } } },
  },
  "networking.k8s.io/v1/ServiceCIDR": { fields: { spec: { cidrs: ["10.97.0.0/16"] } } },
  "node.k8s.io/v1/RuntimeClass": {
    fields: { handler: "minimal" },
    change: { overhead: { podFixed: { cpu: "1" } } },
  },
  "policy/v1/PodDisruptionBudget": {
    fields: { spec: { selector } },
    change: { spec: { minAvailable: 1 } },
  },
  "rbac.authorization.k8s.io/v1/ClusterRole": {
    fields: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    change: { rules: [] },
  },
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": {
    fields: { roleRef },
    change: { subjects: [{ kind: "User", name: "minimal" }] },
  },
  "rbac.authorization.k8s.io/v1/Role": {
    fields: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    change: { rules: [] },
  },
  "rbac.authorization.k8s.io/v1/RoleBinding": {
    fields: { roleRef },
    change: { subjects: [{ kind: "User", name: "minimal" }] },
  },
  "resource.k8s.io/v1/DeviceClass": {
    fields: { spec: {} },
    change: { spec: { selectors: [{ cel: { expression: "true" } }] } },
  },
  "resource.k8s.io/v1/ResourceClaim": {
    fields: { spec: { devices } },
    status: { reservedFor: [{ resource: "pods", name: "minimal", uid: "1" }] },
  },
  "resource.k8s.io/v1/ResourceClaimTemplate": { fields: { spec: { spec: { devices } } } },
  "resource.k8s.io/v1/ResourceSlice": {
    fields: {
      spec: {
        driver: "minimal.example.com",
        nodeName: "minimal",
        pool: { name: "minimal", generation: 1, resourceSliceCount: 1 },
      },
    },
    change: { spec: { pool: { generation: 2 } } },
  },
  "scheduling.k8s.io/v1/PriorityClass": {
    fields: { value: 7 },
    change: { description: "changed" },
  },
  "storage.k8s.io/v1/CSIDriver": {
    fields: { spec: {} },
    change: { spec: { requiresRepublish: true } },
  },
  "storage.k8s.io/v1/CSINode": {
    fields: { spec: { drivers: [] } },
    change: { spec: { drivers: [{ name: "minimal.example.com", nodeID: "minimal" }] } },
  },
  "storage.k8s.io/v1/CSIStorageCapacity": {
    fields: { storageClassName: "minimal" },
    change: { capacity: "1Gi" },
  },
  "storage.k8s.io/v1/StorageClass": {
    fields: { provisioner: "example.com/minimal" },
    change: { allowVolumeExpansion: true },
  },
  "storage.k8s.io/v1/VolumeAttachment": {
    fields: {
      spec: {
        attacher: "minimal.example.com",
        nodeName: "minimal",
        source: { persistentVolumeName: "minimal" },
      },
    },
  },
  "storage.k8s.io/v1/VolumeAttributesClass": {
    fields: { driverName: "minimal.example.com", parameters: { key: "value" } },
  },
  "storagemigration.k8s.io/v1beta1/StorageVersionMigration": {
    fields: { spec: { resource: { group: "apps", resource: "deployments" } } },
  },
};
