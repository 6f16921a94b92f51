// Events, flows, services of the API and questions to it, with something wrong in them.

import type { Json, JsonObject } from "@keelson/base";

import { spec, type Change, type KindCases } from "./cases.ts";

const all = ["*"];
const subject = { kind: "User", user: { name: "jane" } };
const resourceRule = { verbs: all, apiGroups: all, resources: all, namespaces: all };
const rule = (more: JsonObject): Change =>
  spec({ rules: [{ subjects: [subject], resourceRules: [resourceRule], ...more }] });
const subjects = (...list: readonly JsonObject[]): Change => rule({ subjects: list });
const limited = (more: JsonObject): Change =>
  spec({ limited: { limitResponse: { type: "Reject" }, ...more } });
const queuing = (more: JsonObject): Change =>
  limited({
    limitResponse: {
      type: "Queue",
      queuing: { queues: 64, handSize: 6, queueLengthLimit: 50, ...more },
    },
  });
const service = (more: JsonObject): Change =>
  spec({ service: { namespace: "default", name: "api", port: 443, ...more } });
const attributes = { verb: "get", resource: "pods" };
const selector = (name: string, value: Json): Change =>
  spec({ resourceAttributes: { ...attributes, [name]: value } });
const selectorCases: readonly Change[] = ["fieldSelector", "labelSelector"].flatMap((name) => [
  selector(name, {}),
  selector(name, { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] }),
  selector(name, { requirements: [{ key: "", operator: "In" }] }),
  selector(name, { requirements: [{ key: "a", operator: "Exists", values: ["b"] }] }),
  selector(name, { requirements: [{ key: "a b", operator: "Near", values: ["c d"] }] }),
]);
const reviewCases: readonly Change[] = [
  {},
  spec({ resourceAttributes: undefined }),
  spec({ nonResourceAttributes: { path: "/x", verb: "get" } }),
  spec({ resourceAttributes: undefined, nonResourceAttributes: { path: "/x", verb: "get" } }),
  { metadata: { name: "x" } },
  { metadata: { labels: { a: "b" } } },
  ...selectorCases,
];
const server = (more: JsonObject): Change => ({
  status: {
    storageVersions: [
      {
        apiServerID: "one",
        encodingVersion: "v1",
        decodableVersions: ["v1"],
        servedVersions: ["v1"],
        ...more,
      },
    ],
    commonEncodingVersion: "v1",
  },
});
const condition = (type: string, status: string): Json => ({
  type,
  status,
  reason: "Because",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

export const serverCases: readonly KindCases[] = [
  {
    kind: "events.k8s.io/v1/Event",
    create: [
      {},
      { "regarding/namespace": undefined },
      { "regarding/namespace": "other" },
      { reportingController: "" },
      { reportingController: "a b" },
      { reportingInstance: "" },
      { reportingInstance: "x".repeat(129) },
      { action: "" },
      { action: "x".repeat(129) },
      { reason: "" },
      { reason: "x".repeat(129) },
      { note: "x".repeat(1025) },
      { eventTime: undefined },
      { eventTime: undefined, "regarding/namespace": "other" },
      { type: "Odd" },
      { type: "" },
      { type: "<b>" },
      { "metadata/name": "Bad_Name", series: { count: 1, lastObservedTime: null } },
      { reportingController: "<a>" },
      { deprecatedCount: 1 },
      { deprecatedSource: { component: "x" } },
      { deprecatedFirstTimestamp: "2026-01-01T00:00:00Z" },
      { deprecatedLastTimestamp: "2026-01-01T00:00:00Z" },
      { series: { count: 1, lastObservedTime: null } },
      { series: { count: 2, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
    ],
    update: [
      {},
      { reason: "Other" },
      { note: "other" },
      { type: "Warning" },
      { action: "Other" },
      { "regarding/name": "other" },
      { related: { kind: "Pod", name: "x" } },
      { reportingController: "other" },
      { reportingInstance: "other" },
      { eventTime: "2026-01-02T00:00:00.000000Z" },
      { deprecatedCount: 3 },
      { deprecatedSource: { host: "x" } },
      { deprecatedFirstTimestamp: "2026-01-01T00:00:00Z" },
      { eventTime: null },
      { regarding: undefined },
      { reason: "<b>" },
      { type: undefined },
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
    ],
  },
  {
    kind: "flowcontrol.apiserver.k8s.io/v1/FlowSchema",
    create: [
      {},
      spec({ matchingPrecedence: -1 }),
      spec({ matchingPrecedence: 10_001 }),
      spec({ matchingPrecedence: 1 }),
      spec({ distinguisherMethod: { type: "ByMoon" } }),
      spec({ priorityLevelConfiguration: {} }),
      spec({ priorityLevelConfiguration: { name: "Bad" } }),
      rule({}),
      rule({ subjects: [] }),
      rule({ resourceRules: [] }),
      subjects({ kind: "Robot" }),
      subjects({ kind: "User" }),
      subjects({ kind: "User", user: { name: "" }, group: { name: "x" } }),
      subjects({
        kind: "Group",
        group: { name: "" },
        serviceAccount: { name: "x", namespace: "y" },
      }),
      subjects({ kind: "Group" }),
      subjects({ kind: "ServiceAccount" }),
      subjects({ kind: "ServiceAccount", serviceAccount: { name: "", namespace: "" } }),
      subjects({
        kind: "ServiceAccount",
        serviceAccount: { name: "Bad", namespace: "Bad" },
        user: { name: "x" },
      }),
      subjects({ kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "x" } }),
      rule({ resourceRules: [{}] }),
      rule({ resourceRules: [{ ...resourceRule, verbs: ["get", "*"] }] }),
      rule({ resourceRules: [{ ...resourceRule, verbs: ["fly"] }] }),
      rule({ resourceRules: [{ ...resourceRule, apiGroups: ["a", "*"], resources: ["*", "b"] }] }),
      rule({ resourceRules: [{ ...resourceRule, namespaces: ["a", "*"] }] }),
      rule({ resourceRules: [{ ...resourceRule, namespaces: ["Bad", "a.b"] }] }),
      rule({ resourceRules: [{ ...resourceRule, namespaces: [], clusterScope: true }] }),
      rule({ nonResourceRules: [{}] }),
      rule({ nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["*", "/a"] }] }),
      rule({
        nonResourceRules: [
          {
            verbs: ["get"],
            nonResourceURLs: ["", "a", "/a b", "/a//b", "/a*", "/*/b", "/a/*", "/"],
          },
        ],
      }),
      { "metadata/name": "exempt" },
      { "metadata/name": "catch-all" },
      { "metadata/name": "Bad" },
    ],
    update: [{}, spec({ matchingPrecedence: 0 }), rule({ subjects: [] })],
    status: [
      {},
      { "status/conditions": [{ type: "" }] },
      {
        "status/conditions": [
          { type: "A", status: "True" },
          { type: "B", status: "Odd" },
        ],
      },
    ],
  },
  {
    kind: "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration",
    create: [
      {},
      { spec: {} },
      spec({ type: "Exempt" }),
      spec({ type: "Odd" }),
      spec({ type: "" }),
      spec({ limited: undefined }),
      spec({ exempt: {} }),
      { "metadata/name": "exempt" },
      {
        "metadata/name": "exempt",
        spec: { type: "Exempt", exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
      },
      { "metadata/name": "catch-all" },
      limited({ nominalConcurrencyShares: -1 }),
      limited({ lendablePercent: 101 }),
      limited({ lendablePercent: -1 }),
      limited({ borrowingLimitPercent: -1 }),
      limited({ limitResponse: { type: "" } }),
      limited({ limitResponse: { type: "Odd" } }),
      limited({ limitResponse: { type: "Queue" } }),
      limited({ limitResponse: { type: "Reject", queuing: {} } }),
      queuing({}),
      queuing({ queues: -1 }),
      queuing({ queues: 10_000_001 }),
      queuing({ handSize: -1, queueLengthLimit: -1 }),
      queuing({ handSize: 65 }),
      queuing({ queues: 1024, handSize: 7 }),
      {
        "metadata/annotations": {
          "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": "",
        },
      },
      { "metadata/name": "Bad" },
    ],
    update: [{}, spec({ type: "Exempt" }), limited({ lendablePercent: 101 })],
    status: [
      {},
      { "status/conditions": [{ type: "" }] },
      { "status/conditions": [{ type: "A", status: "True" }] },
    ],
  },
  {
    kind: "apiregistration.k8s.io/v1/APIService",
    create: [
      {},
      { "metadata/name": "other" },
      { "metadata/name": "a/b" },
      { "metadata/generateName": "some-" },
      { "metadata/generateName": "..", "metadata/labels": { a: "b c" } },
      { "metadata/name": "other", "metadata/labels": { a: "b c" }, "spec/version": "V" },
      spec({ group: "" }),
      spec({ group: "Bad Group" }),
      spec({ version: "" }),
      spec({ version: "V1" }),
      spec({ groupPriorityMinimum: 0 }),
      spec({ groupPriorityMinimum: 20_001 }),
      spec({ versionPriority: 0 }),
      spec({ versionPriority: 1001 }),
      spec({ caBundle: "YWJj" }),
      spec({ insecureSkipTLSVerify: true }),
      service({}),
      service({ namespace: "" }),
      service({ name: "" }),
      service({ port: 0 }),
      service({ port: 65_536 }),
      { ...service({}), "spec/caBundle": "YWJj", "spec/insecureSkipTLSVerify": true },
    ],
    update: [
      {},
      spec({ versionPriority: 0 }),
      spec({ group: "other.example.com" }),
      spec({ insecureSkipTLSVerify: true }),
    ],
    status: [
      {},
      { "status/conditions": [{ type: "Available", status: "Odd" }] },
      { "status/conditions": [{ type: "", status: "Unknown" }] },
    ],
  },
  {
    kind: "authorization.k8s.io/v1/SubjectAccessReview",
    fields: () => ({ metadata: {}, spec: { user: "jane", resourceAttributes: attributes } }),
    create: [
      ...reviewCases,
      spec({ user: "" }),
      spec({ user: "", groups: ["x"] }),
      { spec: undefined },
    ],
  },
  {
    kind: "authorization.k8s.io/v1/SelfSubjectAccessReview",
    fields: () => ({ metadata: {}, spec: { resourceAttributes: attributes } }),
    create: [...reviewCases, { spec: undefined }],
  },
  {
    kind: "authorization.k8s.io/v1/LocalSubjectAccessReview",
    fields: () => ({
      metadata: { namespace: "lab-0" },
      spec: { user: "jane", resourceAttributes: { ...attributes, namespace: "lab-0" } },
    }),
    create: [
      {},
      spec({ user: "" }),
      spec({ "resourceAttributes/namespace": "other" }),
      spec({ "resourceAttributes/namespace": undefined }),
      spec({ nonResourceAttributes: { path: "/x", verb: "get" } }),
      spec({ resourceAttributes: undefined, nonResourceAttributes: { path: "/x", verb: "get" } }),
      spec({ resourceAttributes: undefined }),
      { "metadata/name": "x" },
      { "metadata/annotations": { a: "b" } },
      ...selectorCases,
    ],
  },
  {
    kind: "internal.apiserver.k8s.io/v1alpha1/StorageVersion",
    create: [
      {},
      { "metadata/name": "nodot" },
      { "metadata/name": "Bad.group.resource" },
      { "metadata/name": "group.1resource" },
      { "metadata/name": ".x" },
      { "metadata/name": "x." },
      { "metadata/name": "group.Resource" },
      { "metadata/name": "a_b.c" },
      { "metadata/name": "a.b.c-" },
      { "metadata/labels": { a: "b c" } },
      { "metadata/labels": { "": "b" } },
      server({}),
      { "metadata/annotations": { "a b": "c" } },
    ],
    update: [{}, { "metadata/labels": { a: "b c" } }],
    status: [
      {},
      server({}),
      server({ apiServerID: "Bad" }),
      server({ encodingVersion: "a/b/c" }),
      server({ encodingVersion: "V1" }),
      server({ encodingVersion: "/v1" }),
      server({ encodingVersion: "Bad/" }),
      server({ decodableVersions: [] }),
      server({ decodableVersions: ["v2", "X"] }),
      server({ servedVersions: ["v2", "example.com/v1"] }),
      { ...server({}), "status/commonEncodingVersion": undefined },
      { ...server({}), "status/commonEncodingVersion": "v2" },
      { "status/commonEncodingVersion": "v1" },
      {
        status: {
          storageVersions: [
            { apiServerID: "one", encodingVersion: "v1", decodableVersions: ["v1"] },
            { apiServerID: "two", encodingVersion: "v2", decodableVersions: ["v2"] },
          ],
          commonEncodingVersion: "v1",
        },
      },
      {
        "status/conditions": [
          { type: "A", status: "True", reason: "", message: "", observedGeneration: 1 },
        ],
      },
      { "status/conditions": [{ type: "", status: "a b", reason: "x", message: "y" }] },
    ],
  },
  {
    kind: "storagemigration.k8s.io/v1beta1/StorageVersionMigration",
    fields: () => ({ spec: { resource: { group: "", resource: "configmaps" } } }),
    create: [
      {},
      { spec: undefined },
      spec({ "resource/resource": "" }),
      spec({ "resource/resource": "Bad" }),
      spec({ "resource/resource": "a/b" }),
      spec({ "resource/group": "Bad Group" }),
      spec({ "resource/group": "apps" }),
      spec({ resource: undefined }),
      spec({ "resource/resource": "1x", "resource/group": "-" }),
      { "metadata/name": "Bad" },
      { "metadata/name": "a/b" },
      { "metadata/labels": { a: "b c" } },
    ],
    update: [
      {},
      spec({ "resource/resource": "secrets" }),
      spec({ "resource/group": "apps" }),
      spec({ "resource/resource": "" }),
    ],
    status: [
      {},
      { "status/resourceVersion": "x" },
      { "status/resourceVersion": "01" },
      { "status/resourceVersion": "12" },
      { "status/conditions": [condition("Succeeded", "True"), condition("Failed", "True")] },
      { "status/conditions": [condition("Running", "Odd")] },
    ],
  },
];
