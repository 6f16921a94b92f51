// Jobs and CronJobs that are wrong, one thing at a time.

import type { Json, JsonObject } from "@keelson/base";

import { status, type Change, type KindCases } from "../rules-groups/cases.ts";
import { inTemplate, selector, t, template } from "./templates.ts";

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
    status({ uncountedTerminatedPods: { succeeded: ["<a>", "", "<a>"], failed: ["<a>"] } }),
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

export const batchCases: readonly KindCases[] = [jobCases, cronJobCases];
