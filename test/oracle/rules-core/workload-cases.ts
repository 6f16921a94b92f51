// Workloads that keep on running, wrong, one thing at a time.

import { status, type Change, type KindCases } from "../rules-groups/cases.ts";
import { inTemplate, selector, t, template } from "./templates.ts";

const selectorCases: readonly Change[] = [
  { "spec/selector": undefined },
  { "spec/selector": {} },
  { "spec/selector": { matchLabels: { app: "b" } } },
  { "spec/selector": { matchLabels: { "a b": "c" } } },
  { "spec/selector": { matchExpressions: [{ key: "app", operator: "Nothing" }] } },
  { "spec/selector": { matchExpressions: [{ key: "app", operator: "In" }] } },
  { "spec/selector": { matchExpressions: [{ key: "app", operator: "Exists", values: ["a"] }] } },
  { "spec/selector": { matchExpressions: [{ key: "app", operator: "In", values: ["!"] }] } },
  {
    "spec/selector": {
      matchLabels: { app: "b" },
      matchExpressions: [{ key: "app", operator: "Exists" }],
    },
  },
  { [`${t}metadata/labels`]: undefined },
  { [`${t}metadata/labels`]: { app: "a", "b c": "d" } },
  { [`${t}metadata/annotations`]: { "b c": "d" } },
];

const replicas: readonly Change[] = [
  { "spec/replicas": -1 },
  { "spec/minReadySeconds": -1 },
  { [`${t}spec/restartPolicy`]: "Never" },
  { [`${t}spec/activeDeadlineSeconds`]: 4 },
  { [`${t}spec/ephemeralContainers`]: [{ name: "e", image: "i" }] },
  { [`${t}spec/containers`]: undefined },
  { [`${t}spec/containers/0/image`]: " i" },
  { "metadata/name": "with.dots" },
  { "metadata/name": "Not_Right" },
];

const deployment: KindCases = {
  kind: "apps/v1/Deployment",
  fields: () => ({ spec: { selector, template: template() } }),
  create: [
    {},
    ...selectorCases,
    ...replicas,
    ...inTemplate(t, 3),
    { "spec/strategy": { type: "Nothing" } },
    { "spec/strategy": { type: "Nothing", rollingUpdate: { maxSurge: 1 } } },
    { "spec/strategy": { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
    { "spec/strategy": { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
    { "spec/strategy": { rollingUpdate: { maxSurge: "0%", maxUnavailable: "0%" } } },
    { "spec/strategy": { rollingUpdate: { maxSurge: "x", maxUnavailable: "101%" } } },
    { "spec/strategy": { rollingUpdate: { maxSurge: -1, maxUnavailable: -2 } } },
    { "spec/revisionHistoryLimit": -1 },
    { "spec/progressDeadlineSeconds": -1 },
    { "spec/progressDeadlineSeconds": 5, "spec/minReadySeconds": 5 },
    { "spec/progressDeadlineSeconds": 0 },
  ],
  update: [
    {},
    { "spec/selector": { matchLabels: { app: "b" } }, [`${t}metadata/labels`]: { app: "b" } },
    { "spec/selector/matchExpressions": [{ key: "app", operator: "Exists" }] },
    { "spec/replicas": -3 },
    { [`${t}spec/containers/0/image`]: "" },
    {
      [`${t}spec/containers/0/env`]: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    { "metadata/labels": { "a b": "c" } },
    { "spec/strategy/type": "Recreate" },
    { "spec/paused": true },
  ],
  status: [
    {},
    status({ replicas: -1, observedGeneration: -2 }),
    status({ replicas: 1, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 4 }),
    status({ unavailableReplicas: -1, terminatingReplicas: -2, collisionCount: -3 }),
    status({ replicas: 3, readyReplicas: 1, availableReplicas: 2 }),
    status({ replicas: 3, readyReplicas: 3, availableReplicas: 3 }),
  ],
};

const replicaSet: KindCases = {
  kind: "apps/v1/ReplicaSet",
  fields: () => ({ spec: { selector, template: template() } }),
  create: [{}, ...selectorCases, ...replicas, ...inTemplate(t, 17)],
  update: [
    {},
    { "spec/selector": { matchLabels: { app: "b" } }, [`${t}metadata/labels`]: { app: "b" } },
    { "spec/replicas": -3 },
    { [`${t}spec/containers/0/image`]: "" },
    { [`${t}spec/hostAliases`]: [{ ip: "::0001" }] },
  ],
  status: [
    {},
    status({ replicas: -1, fullyLabeledReplicas: -1, observedGeneration: -2 }),
    status({ replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 3, availableReplicas: 4 }),
    status({ replicas: 1, terminatingReplicas: -1 }),
  ],
};

const generation = (text: string): Change => ({
  "metadata/annotations": { "deprecated.daemonset.template.generation": text },
});

const daemonSet: KindCases = {
  kind: "apps/v1/DaemonSet",
  fields: () => ({ spec: { selector, template: template() } }),
  create: [
    {},
    ...selectorCases,
    ...replicas.slice(1),
    ...inTemplate(t, 19),
    { "spec/revisionHistoryLimit": -1 },
    { "spec/updateStrategy": { type: "Nothing" } },
    { "spec/updateStrategy": { type: "OnDelete" } },
    { "spec/updateStrategy": { rollingUpdate: { maxUnavailable: 0 } } },
    { "spec/updateStrategy": { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    { "spec/updateStrategy": { rollingUpdate: { maxUnavailable: "101%", maxSurge: "x" } } },
    { "spec/updateStrategy": { rollingUpdate: { maxUnavailable: -1, maxSurge: "200%" } } },
    ...["9007199254740993", "9223372036854775807", "-9223372036854775808", "+007"].map(generation),
  ],
  update: [
    {},
    { "spec/selector": { matchLabels: { app: "b" } }, [`${t}metadata/labels`]: { app: "b" } },
    { [`${t}spec/containers/0/image`]: "" },
    { [`${t}spec/containers/0/image`]: "other" },
    { [`${t}spec/nodeSelector`]: { "beta.kubernetes.io/os": "linux" } },
    { "spec/minReadySeconds": -1 },
    ...["9007199254740993", "9223372036854775807"].map((text) => ({
      before: generation(text),
      after: { [`${t}spec/containers/0/image`]: "other" },
    })),
  ],
  status: [
    {},
    status({
      currentNumberScheduled: -1,
      numberMisscheduled: -2,
      desiredNumberScheduled: -3,
      numberReady: -4,
    }),
    status({
      observedGeneration: -1,
      updatedNumberScheduled: -1,
      numberAvailable: -1,
      numberUnavailable: -1,
    }),
    status({ collisionCount: -1 }),
  ],
};

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

const statefulSet: KindCases = {
  kind: "apps/v1/StatefulSet",
  fields: () => ({ spec: { serviceName: "s", selector, template: template() } }),
  create: [
    {},
    ...selectorCases,
    ...replicas,
    ...inTemplate(t, 13),
    { "spec/podManagementPolicy": "Nothing" },
    { "spec/updateStrategy": { type: "Nothing" } },
    { "spec/updateStrategy": { type: "OnDelete", rollingUpdate: { partition: 1 } } },
    { "spec/updateStrategy": { rollingUpdate: { partition: -1 } } },
    { "spec/updateStrategy": { rollingUpdate: { maxUnavailable: 0 } } },
    {
      "spec/persistentVolumeClaimRetentionPolicy": {
        whenDeleted: "Nothing",
        whenScaled: "Perhaps",
      },
    },
    { "spec/volumeClaimTemplates": [{ metadata: { name: "data" }, spec: {} }] },
    {
      "spec/volumeClaimTemplates": [claim],
      [`${t}spec/containers/0/volumeMounts`]: [{ name: "data", mountPath: "/x" }],
    },
    { "spec/volumeClaimTemplates": [{ ...claim, metadata: { name: "No_" } }] },
    {
      "spec/volumeClaimTemplates/0": {
        ...claim,
        spec: { ...claim.spec, resources: { requests: { storage: "1500m" } } },
      },
    },
    { [`${t}spec/containers/0/volumeMounts`]: [{ name: "data", mountPath: "/x" }] },
    { [`${t}spec/hostname`]: "Not_Right", [`${t}spec/subdomain`]: "Not_Right" },
    { "spec/ordinals": { start: -1 } },
    { "spec/serviceName": "Not_Right" },
    { "spec/revisionHistoryLimit": -1 },
  ],
  update: [
    {},
    { "spec/serviceName": "other" },
    { "spec/serviceName": undefined },
    { "spec/selector": { matchLabels: { app: "b" } }, [`${t}metadata/labels`]: { app: "b" } },
    { "spec/podManagementPolicy": "Parallel" },
    { "spec/volumeClaimTemplates": [claim] },
    { "spec/replicas": -2 },
    { "spec/replicas": 3, "spec/minReadySeconds": 2, "spec/revisionHistoryLimit": 2 },
    { "spec/revisionHistoryLimit": -1 },
    { "spec/ordinals": { start: 2 } },
    { "spec/updateStrategy": { type: "OnDelete" } },
    { [`${t}spec/containers/0/image`]: "" },
    { [`${t}spec/containers/0/image`]: "other" },
    {
      before: { "spec/volumeClaimTemplates": [claim] },
      after: { "spec/volumeClaimTemplates/0/metadata/labels": { a: "b" } },
    },
    { before: { "spec/volumeClaimTemplates": [claim] }, after: { "spec/replicas": 4 } },
  ],
  status: [
    {},
    status({
      replicas: -1,
      readyReplicas: -1,
      currentReplicas: -1,
      updatedReplicas: -1,
      availableReplicas: -1,
    }),
    status({
      replicas: 1,
      readyReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      availableReplicas: 3,
    }),
    status({ replicas: 1, observedGeneration: -1, collisionCount: -1 }),
  ],
};

const controllerRevision: KindCases = {
  kind: "apps/v1/ControllerRevision",
  fields: () => ({ data: { a: 1 }, revision: 1 }),
  create: [
    {},
    { revision: -1 },
    { data: undefined },
    { data: null },
    { data: {} },
    { "metadata/name": "Not_Right" },
    { data: undefined, revision: -4 },
  ],
  update: [
    {},
    { revision: 2 },
    { revision: -1 },
    { data: { a: 2 } },
    { data: undefined },
    { "data/b": "<>&" },
    { data: { z: 1, a: "<>&" } },
    { before: { data: { b: 1, a: 2 } }, after: { data: { a: 2, b: 1 } } },
    { before: { data: { b: 1.5, a: 2 } }, after: {} },
  ],
};

const controller: KindCases = {
  kind: "/v1/ReplicationController",
  fields: () => ({ spec: { selector: { app: "a" }, template: template() } }),
  create: [
    {},
    { "spec/selector": { app: "b" } },
    { "spec/selector": {}, [`${t}metadata/labels`]: {} },
    { "spec/template": undefined },
    ...replicas,
    ...inTemplate(t, 29),
  ],
  update: [
    {},
    { "spec/selector": { app: "b" } },
    { "spec/replicas": -1 },
    { "spec/template": undefined },
    { [`${t}spec/containers/0/image`]: "" },
    { [`${t}spec/hostAliases`]: [{ ip: "::0001" }] },
    { before: { [`${t}spec/hostAliases`]: [{ ip: "::0001" }] }, after: { "spec/replicas": 4 } },
  ],
  status: [
    {},
    status({ replicas: -1, fullyLabeledReplicas: -1, observedGeneration: -2 }),
    status({ replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 3, availableReplicas: 4 }),
  ],
};

const podTemplate: KindCases = {
  kind: "/v1/PodTemplate",
  fields: () => ({ template: template() }),
  create: [
    {},
    { "metadata/name": "Not_Right" },
    ...inTemplate("template/", 11),
    { "template/metadata/labels": { "a b": "c" } },
    { "template/spec/ephemeralContainers": [{ name: "e", image: "i" }] },
  ],
  update: [
    {},
    { "template/spec/containers/0/image": "" },
    { "template/spec/containers/0/image": "other" },
    { "template/spec/hostAliases": [{ ip: "::0001" }] },
    { "template/metadata/labels": { a: "b!" } },
  ],
};

export const workloadCases: readonly KindCases[] = [
  deployment,
  replicaSet,
  daemonSet,
  statefulSet,
  controllerRevision,
  controller,
  podTemplate,
];
