// Workloads that are wrong, one thing at a time.

import type { Json, JsonObject } from "@keelson/base";

import { status, type Change, type KindCases } from "../rules-groups/cases.ts";
import { podSpecChanges } from "./pod-spec-cases.ts";

const template = (more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i" }], ...more },
});
const selector = { matchLabels: { app: "a" } };
const t = "spec/template/";

/** Some of what is wrong with Pods, in a template: that it is asked at all, and at its place. */
function inTemplate(path: string, step: number): readonly Change[] {
  return podSpecChanges
    .filter((_, index) => index % step === 1)
    .map((change) =>
      Object.fromEntries(Object.entries(change).map(([own, value]) => [`${path}${own}`, value])),
    );
}

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

const rules = (...value: readonly Json[]): Change => ({
  "spec/podFailurePolicy": { rules: value },
});
const indexed = { "spec/completionMode": "Indexed", "spec/completions": 3 };
const success = (...value: readonly Json[]): Change => ({
  ...indexed,
  "spec/successPolicy": { rules: value },
});
const job = (): JsonObject => ({ template: template({ restartPolicy: "Never" }) });

const jobChanges: readonly Change[] = [
  {},
  { "spec/parallelism": -1, "spec/completions": -2, "spec/activeDeadlineSeconds": -3 },
  { "spec/backoffLimit": -1, "spec/ttlSecondsAfterFinished": -2 },
  { "spec/backoffLimitPerIndex": -1 },
  { "spec/maxFailedIndexes": 4 },
  { ...indexed, "spec/maxFailedIndexes": 4, "spec/backoffLimitPerIndex": 1 },
  { ...indexed, "spec/parallelism": 200_000 },
  { ...indexed, "spec/completions": undefined },
  {
    ...indexed,
    "spec/completions": 200_000,
    "spec/parallelism": 20_000,
    "spec/backoffLimitPerIndex": 1,
  },
  { ...indexed, "spec/completions": 200_000, "spec/parallelism": 20_000 },
  {
    ...indexed,
    "spec/completions": 200_000,
    "spec/maxFailedIndexes": 150_000,
    "spec/backoffLimitPerIndex": 1,
  },
  { "spec/completionMode": "Nothing" },
  { "spec/managedBy": "" },
  { "spec/managedBy": "x" },
  { "spec/managedBy": "No_/x y" },
  { "spec/managedBy": `a.b/${"c".repeat(70)}` },
  rules({}),
  rules({ action: "Nothing" }),
  rules({ action: "FailIndex", onPodConditions: [{ type: "x", status: "True" }] }),
  rules({
    action: "Ignore",
    onPodConditions: [
      { type: "a b", status: "" },
      { type: "x", status: "No" },
    ],
  }),
  rules({ action: "Ignore", onExitCodes: { operator: "", values: [] } }),
  rules({ action: "Ignore", onExitCodes: { operator: "Is", values: [3, 2, 2] } }),
  rules({ action: "Ignore", onExitCodes: { operator: "In", values: [0], containerName: "x" } }),
  rules({
    action: "Ignore",
    onExitCodes: { operator: "In", values: [1] },
    onPodConditions: [{ type: "x", status: "True" }],
  }),
  {
    ...rules({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }),
    [`${t}spec/restartPolicy`]: "OnFailure",
  },
  { "spec/successPolicy": { rules: [{ succeededCount: 1 }] } },
  success(),
  success({}),
  success({ succeededIndexes: "0-5" }),
  success({ succeededIndexes: "1,0" }),
  success({ succeededIndexes: "1-2-3" }),
  success({ succeededIndexes: "x" }),
  success({ succeededIndexes: "0-1", succeededCount: 4 }),
  success({ succeededCount: -1 }),
  { "spec/podReplacementPolicy": "Nothing" },
  {
    ...rules({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }),
    "spec/podReplacementPolicy": "TerminatingOrFailed",
  },
  { [`${t}spec/restartPolicy`]: "Always" },
  { [`${t}spec/restartPolicy`]: "Perhaps" },
  { [`${t}spec/restartPolicy`]: undefined },
  ...inTemplate(t, 23),
];

const manual = { "spec/manualSelector": true, "spec/selector": selector };
const condition = (type: string, value = "True"): Json => ({ type, status: value });
const time = (minute: number): string => `2026-01-01T00:0${minute}:00Z`;

const jobCases: KindCases = {
  kind: "batch/v1/Job",
  fields: () => ({ spec: job() }),
  create: [
    ...jobChanges,
    { "metadata/name": "with.dots" },
    { ...indexed, "metadata/name": "a".repeat(62) },
    { "spec/selector": selector },
    { "spec/selector": { matchLabels: { "batch.kubernetes.io/controller-uid": "x" } } },
    manual,
    { ...manual, "spec/selector": undefined },
    { ...manual, "spec/selector": { matchLabels: { app: "b" } } },
    { ...manual, "spec/selector": { matchExpressions: [{ key: "app", operator: "?" }] } },
    { [`${t}metadata/labels`]: { "job-name": "other" } },
  ],
  update: [
    {},
    { "spec/completions": 4 },
    { before: indexed, after: { "spec/completions": 4 } },
    { before: indexed, after: { "spec/completions": 4, "spec/parallelism": 4 } },
    { before: indexed, after: { "spec/completions": undefined } },
    { "spec/completionMode": "Indexed", "spec/completions": 1 },
    { "spec/parallelism": -1 },
    { "spec/selector": selector },
    { "spec/selector": undefined },
    { [`${t}spec/containers/0/image`]: "other" },
    { [`${t}spec/containers/0/resources`]: { requests: { cpu: "1" } } },
    { [`${t}spec/nodeSelector`]: { a: "b" } },
    { [`${t}metadata/annotations`]: { a: "b" } },
    { before: { "spec/suspend": true }, after: { [`${t}spec/nodeSelector`]: { a: "b" } } },
    { before: { "spec/suspend": true }, after: { [`${t}metadata/annotations`]: { a: "b" } } },
    {
      before: { "spec/suspend": true },
      after: { [`${t}spec/containers/0/resources`]: { requests: { cpu: "1" } } },
    },
    { before: { "spec/suspend": true }, after: { [`${t}spec/containers/0/image`]: "other" } },
    {
      before: { "spec/suspend": true },
      after: {
        [`${t}spec/affinity`]: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
            ],
          },
        },
      },
    },
    {
      before: { "spec/suspend": true },
      after: {
        [`${t}spec/affinity`]: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "a", labelSelector: {} },
            ],
          },
        },
      },
    },
    rules({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }),
    {
      before: rules({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }),
      after: { "spec/podFailurePolicy": undefined },
    },
    { "spec/managedBy": "a.b/c" },
    { before: { "spec/managedBy": "a.b/c" }, after: { "spec/managedBy": undefined } },
    { before: indexed, after: { "spec/backoffLimitPerIndex": 4 } },
    { before: indexed, after: { "spec/successPolicy": { rules: [{ succeededCount: 1 }] } } },
    { "spec/backoffLimit": 3, "spec/activeDeadlineSeconds": 100, "spec/suspend": true },
    { [`${t}metadata/labels/job-name`]: "other" },
    { "spec/manualSelector": true },
  ],
  status: [
    {},
    status({ active: -1, succeeded: -1, failed: -1, ready: -1, terminating: -1 }),
    status({ uncountedTerminatedPods: { succeeded: ["a", "", "a"], failed: ["a"] } }),
    status({ conditions: [condition("Complete")] }),
    status({
      conditions: [condition("Complete"), condition("Failed")],
      startTime: time(1),
      completionTime: time(2),
    }),
    status({ conditions: [condition("Complete"), condition("FailureTarget")] }),
    status({ conditions: [condition("Failed")] }),
    status({
      conditions: [condition("Failed"), condition("FailureTarget")],
      active: 2,
      ready: 3,
      terminating: 1,
    }),
    status({
      conditions: [condition("Failed"), condition("FailureTarget")],
      startTime: time(1),
      uncountedTerminatedPods: { failed: ["a"] },
    }),
    status({ completionTime: time(1) }),
    status({
      conditions: [condition("Complete"), condition("SuccessCriteriaMet")],
      startTime: time(3),
      completionTime: time(2),
    }),
    status({
      conditions: [condition("Complete"), condition("SuccessCriteriaMet")],
      startTime: time(1),
      completionTime: time(2),
    }),
    status({
      conditions: [
        condition("SuccessCriteriaMet"),
        condition("Failed"),
        condition("FailureTarget"),
      ],
      startTime: time(1),
    }),
    status({ completedIndexes: "0" }),
    status({ failedIndexes: "0" }),
    {
      before: { ...indexed, "spec/backoffLimitPerIndex": 1 },
      after: status({ completedIndexes: "0,1", failedIndexes: "1-2" }),
    },
    {
      before: { ...indexed, "spec/backoffLimitPerIndex": 1 },
      after: status({ completedIndexes: "5", failedIndexes: "x" }),
    },
    {
      before: success({ succeededCount: 1 }),
      after: status({
        conditions: [condition("Complete")],
        startTime: time(1),
        completionTime: time(2),
      }),
    },
    status({ active: 1, ready: 1, startTime: time(1) }),
  ],
};

const cron = (schedule: string): Change => ({ "spec/schedule": schedule });
const zone = (timeZone: string): Change => ({ "spec/timeZone": timeZone });

const cronJobCases: KindCases = {
  kind: "batch/v1/CronJob",
  fields: () => ({ spec: { schedule: "* * * * *", jobTemplate: { spec: job() } } }),
  create: [
    {},
    ...["", "x", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7"].map(
      cron,
    ),
    ...[
      "a * * * *",
      "5-3 * * * *",
      "*/0 * * * *",
      "1/2/3 * * * *",
      "1-2-3 * * * *",
      "-1 * * * *",
    ].map(cron),
    ...[
      "@hourly",
      "@nothing",
      "@every 5m",
      "@every x",
      "* * * jan mon",
      "* * ? * *",
      "*/5 1-3,4 * * *",
    ].map(cron),
    ...[
      "*/9007199254740993 * * * *",
      "9007199254740993 * * * *",
      "9223372036854775808 * * * *",
      "*\u0085* * * *",
      "*\ufeff* * * *",
    ].map(cron),
    ...["TZ=UTC * * * * *", "CRON_TZ=Nothing * * * * *", "TZ=UTC", "TZ=../x * * * * *"].map(cron),
    ...["TZ= * * * * *", "CRON_TZ=Local @every 1s", "TZ=/x @nothing", " @hourly", "@every"].map(
      cron,
    ),
    ...[", * * * *", "*-5 * * * *", "*-5/0 * * * *", "+5 * * * *", "-0 */+2 * * *"].map(cron),
    ...["*/-1 * * * *", "*/ * * * *", "5- * * * *", "5-x * * * *", "1/2/x * * * *"].map(cron),
    ...["* * * JAN-mar sUN", "* * * jan/2 *", "jan * * * *", "@every -1h", "@every \n"].map(cron),
    ...[
      "",
      "Local",
      "UTC",
      "Europe/Berlin",
      "europe/berlin",
      "Nothing",
      "../x",
      "A b",
      "US/Eastern",
      "Us/Eastern",
      "Gb",
      "GB-Eire",
      "Factory",
    ].map(zone),
    { "spec/startingDeadlineSeconds": -1 },
    { "spec/concurrencyPolicy": "Perhaps" },
    { "spec/successfulJobsHistoryLimit": -1, "spec/failedJobsHistoryLimit": -2 },
    { "spec/jobTemplate/spec/selector": selector },
    { "spec/jobTemplate/spec/manualSelector": true },
    { "metadata/name": "a".repeat(53) },
    { "metadata/name": "with.dots" },
    ...jobChanges
      .slice(1, 30)
      .map((change) =>
        Object.fromEntries(
          Object.entries(change).map(([path, value]) => [`spec/jobTemplate/${path}`, value]),
        ),
      ),
  ],
  update: [
    {},
    cron("x"),
    cron("TZ=UTC * * * * *"),
    zone("Nothing"),
    { "spec/jobTemplate/spec/template/spec/containers/0/image": "" },
    {
      "spec/jobTemplate/spec/template/spec/containers/0/env": [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    { "spec/suspend": true },
  ],
  status: [{}, status({ active: [{ name: "x" }] })],
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
  jobCases,
  cronJobCases,
  controller,
  podTemplate,
];
