// Roles, bindings, leases, priorities and budgets with something wrong in them.

import { long, type Change, type KindCases } from "./cases.ts";

const rule = (more: Change): Change =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [`rules/0/${name}`, value]));
const fullRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

const ruleCases: readonly Change[] = [
  {},
  { rules: undefined },
  { rules: [{}] },
  rule({ verbs: [] }),
  rule({ verbs: undefined }),
  rule({ apiGroups: undefined }),
  rule({ resources: [] }),
  rule({ resourceNames: ["x"], resources: [] }),
  rule({ nonResourceURLs: ["/healthz"] }),
  rule({ nonResourceURLs: ["/healthz"], apiGroups: [], resources: [] }),
  rule({ nonResourceURLs: ["/healthz"], apiGroups: [], resources: [], verbs: [] }),
  { rules: [fullRule, {}, { verbs: ["x"] }] },
  { "metadata/name": "a/b" },
  { "metadata/name": "a%b:c" },
  { "metadata/name": "system:some role" },
];

const subject = (more: Change): Change => ({
  "subjects/0": { kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" },
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`subjects/0/${name}`, value])),
});

const bindingCases: readonly Change[] = [
  {},
  { roleRef: undefined },
  { "roleRef/apiGroup": "apps" },
  { "roleRef/kind": "Role" },
  { "roleRef/kind": "Thing" },
  { "roleRef/name": "" },
  { "roleRef/name": "a/b" },
  { "roleRef/name": ".." },
  subject({}),
  subject({ name: "" }),
  subject({ kind: "" }),
  subject({ kind: "Robot" }),
  subject({ apiGroup: "apps" }),
  subject({ kind: "Group", apiGroup: "apps" }),
  subject({ kind: "ServiceAccount", apiGroup: undefined }),
  subject({ kind: "ServiceAccount", apiGroup: undefined, namespace: "x" }),
  subject({ kind: "ServiceAccount", name: "Bad Name", namespace: "x" }),
  subject({ kind: "ServiceAccount", apiGroup: "rbac.authorization.k8s.io", namespace: "x" }),
  { "metadata/name": "a/b" },
];

const bindingUpdates: readonly Change[] = [
  {},
  { "roleRef/name": "edit" },
  { "roleRef/kind": "Role" },
  { "roleRef/name": "" },
  subject({ kind: "ServiceAccount", apiGroup: undefined, name: "x", namespace: "y" }),
  { "metadata/labels": { "": "x" } },
];

const selectors = "aggregationRule/clusterRoleSelectors";
const candidate = (more: Change): Change =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [`spec/${name}`, value]));

export const accessCases: readonly KindCases[] = [
  {
    kind: "rbac.authorization.k8s.io/v1/Role",
    fields: () => ({ rules: [fullRule] }),
    create: ruleCases,
    update: [{}, { rules: [{}] }, rule({ verbs: [] }), rule({ nonResourceURLs: ["/x"] })],
  },
  {
    kind: "rbac.authorization.k8s.io/v1/ClusterRole",
    fields: () => ({ rules: [fullRule] }),
    create: [
      ...ruleCases,
      { [selectors]: [] },
      { aggregationRule: {} },
      { [selectors]: [{ matchLabels: { a: "b c" } }] },
      { [selectors]: [{ matchLabels: { "a b": "c" } }] },
      { [selectors]: [{ matchExpressions: [{ key: "a", operator: "Is" }] }] },
      { [selectors]: [{ matchExpressions: [{ key: "a", operator: "In" }] }] },
      { [selectors]: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] }] },
      { [selectors]: [{ matchExpressions: [{ key: "", operator: "Exists", values: ["b"] }] }] },
    ],
    update: [
      {},
      { rules: [{}] },
      { aggregationRule: {} },
      { [selectors]: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] }] },
    ],
  },
  {
    kind: "rbac.authorization.k8s.io/v1/RoleBinding",
    create: bindingCases,
    update: bindingUpdates,
  },
  {
    kind: "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
    create: bindingCases,
    update: bindingUpdates,
  },
  {
    kind: "coordination.k8s.io/v1/Lease",
    fields: () => ({ spec: { holderIdentity: "me", leaseDurationSeconds: 15 } }),
    create: [
      {},
      { spec: undefined },
      { "spec/leaseDurationSeconds": 0 },
      { "spec/leaseDurationSeconds": -5 },
      { "spec/leaseTransitions": -1 },
      { "spec/leaseTransitions": -1, "spec/leaseDurationSeconds": 0 },
      { "spec/strategy": "OldestEmulationVersion" },
      { "spec/strategy": "Nobody" },
      { "spec/strategy": "a/b/c" },
      { "spec/preferredHolder": "you" },
      { "metadata/name": "Bad_Name" },
      { "metadata/name": "a/b" },
      { "spec/renewTime": "now" },
      { "metadata/annotations": { "\u0130": "", "example.com/\u212a": "" } },
    ],
    update: [
      {},
      { "spec/leaseDurationSeconds": 0 },
      { "spec/leaseTransitions": -1 },
      { "spec/preferredHolder": "you" },
    ],
  },
  {
    kind: "coordination.k8s.io/v1beta1/LeaseCandidate",
    fields: () => ({
      spec: {
        leaseName: "one",
        binaryVersion: "1.2.3",
        emulationVersion: "1.2.0",
        strategy: "OldestEmulationVersion",
      },
    }),
    create: [
      {},
      candidate({ leaseName: "" }),
      candidate({ binaryVersion: "" }),
      candidate({ binaryVersion: "1.2" }),
      candidate({ binaryVersion: "v1.2.3" }),
      candidate({ binaryVersion: "1.1.9" }),
      candidate({ binaryVersion: "1.2.0-alpha.1" }),
      candidate({ emulationVersion: "" }),
      candidate({ emulationVersion: "01.2.3" }),
      candidate({ emulationVersion: "0.0.0" }),
      candidate({ emulationVersion: "1.2.3-rc.2", binaryVersion: "1.2.3-rc.10" }),
      candidate({ strategy: "" }),
      candidate({ strategy: "Nobody" }),
      candidate({ strategy: "example.com/x" }),
      candidate({ strategy: "example.com/x/y" }),
      candidate({ strategy: "example.com/<x>" }),
      candidate({ emulationVersion: "18446744073709551616.0.0" }),
      candidate({ binaryVersion: "1.3.0-18446744073709551616" }),
      candidate({ binaryVersion: "18446744073709551615.0.0" }),
      candidate({ binaryVersion: `1.3.0-${long(300)}` }),
      candidate({ binaryVersion: "1.2.0+a.b" }),
      { spec: undefined },
      { "metadata/name": "Under_Score.x" },
      { "metadata/name": "..x" },
      { "metadata/name": "a/b", ...candidate({ leaseName: "" }) },
      { "metadata/generateName": ".." },
    ],
    update: [
      {},
      candidate({ leaseName: "other" }),
      candidate({ binaryVersion: "1.0.0" }),
      candidate({ strategy: "" }),
    ],
  },
  {
    kind: "scheduling.k8s.io/v1/PriorityClass",
    create: [
      {},
      { value: 1_000_000_001 },
      { value: 2_000_000_000 },
      { value: -7 },
      { preemptionPolicy: "Sometimes" },
      { preemptionPolicy: "" },
      { preemptionPolicy: "Never" },
      { "metadata/name": "system-mine" },
      { "metadata/name": "system-node-critical" },
      { "metadata/name": "system-cluster-critical", value: 2_000_000_000, globalDefault: true },
      { "metadata/name": "Bad" },
      { value: 3_000_000_000 },
      { value: "x" },
      { globalDefault: true, value: 1_000_000_002, preemptionPolicy: "x" },
    ],
    update: [
      {},
      { value: 77 },
      { preemptionPolicy: "Never" },
      { preemptionPolicy: "Never", value: 9 },
      { description: "other" },
    ],
  },
  {
    kind: "policy/v1/PodDisruptionBudget",
    create: [
      {},
      { "spec/minAvailable": 1, "spec/maxUnavailable": "10%" },
      { "spec/minAvailable": -1, "spec/maxUnavailable": undefined },
      { "spec/minAvailable": "x", "spec/maxUnavailable": undefined },
      { "spec/minAvailable": "101%", "spec/maxUnavailable": undefined },
      { "spec/minAvailable": "100%", "spec/maxUnavailable": undefined },
      { "spec/minAvailable": "10.5%", "spec/maxUnavailable": undefined },
      { "spec/minAvailable": undefined, "spec/maxUnavailable": "-5%" },
      { "spec/minAvailable": undefined, "spec/maxUnavailable": "900%" },
      { "spec/selector": { matchLabels: { "a b": "c" } } },
      { "spec/selector": { matchExpressions: [{ key: "a", operator: "In" }] } },
      { "spec/selector": { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
      { "spec/unhealthyPodEvictionPolicy": "Never" },
      { "spec/unhealthyPodEvictionPolicy": "AlwaysAllow" },
      {
        "spec/minAvailable": 1,
        "spec/maxUnavailable": 2,
        "spec/selector": {
          matchLabels: { a: "b" },
          matchExpressions: [{ key: "c", operator: "NotIn", values: ["d"] }],
        },
        "spec/unhealthyPodEvictionPolicy": "AlwaysAllow",
      },
      { "metadata/name": "Bad_Name" },
      { "metadata/name": "a/b" },
    ],
    update: [
      {},
      { "spec/minAvailable": 1, "spec/maxUnavailable": 1 },
      { "spec/selector": { matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] } },
      { "spec/unhealthyPodEvictionPolicy": "x" },
    ],
    status: [
      {},
      { "status/disruptionsAllowed": -1 },
      { "status/currentHealthy": -1, "status/desiredHealthy": -2, "status/expectedPods": -3 },
      {
        "status/conditions": [
          { type: "", status: "", reason: "", message: "", lastTransitionTime: null },
        ],
      },
      {
        "status/conditions": [
          {
            type: "A",
            status: "True",
            reason: "R",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
          {
            type: "A",
            status: "Maybe",
            reason: "1R",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
            observedGeneration: -1,
          },
        ],
      },
      {
        "status/conditions": [
          {
            type: "a b",
            status: "False",
            reason: "x".repeat(1025),
            message: "m",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    ],
  },
];
