// Devices, claims on them and classes of runtimes, with something wrong in them.

import type { Json, JsonObject } from "@keelson/base";

import { many, spec, type Change, type KindCases } from "./cases.ts";

const exactly = { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 };
const request = { name: "one", exactly };
const claim = (more: JsonObject): JsonObject => ({ devices: { requests: [request], ...more } });
const requests = (...list: readonly JsonObject[]): JsonObject => claim({ requests: list });
const asked = (more: JsonObject): JsonObject =>
  requests({ name: "one", exactly: { ...exactly, ...more } });
const opaque = { driver: "dra.example.com", parameters: { a: 1 } };

const claimSpecs: readonly JsonObject[] = [
  claim({}),
  {},
  requests({ name: "one" }),
  requests({ name: "Bad_Name", exactly }),
  requests({ name: "", exactly }),
  requests(request, request),
  requests(...many(33, (index) => ({ name: `r${index}`, exactly }))),
  requests({ name: "one", exactly, firstAvailable: [{ name: "a", ...exactly }] }),
  requests({
    name: "one",
    firstAvailable: [
      { name: "a", ...exactly },
      { name: "a", ...exactly },
    ],
  }),
  requests({ name: "one", firstAvailable: [{ name: "A", ...exactly, deviceClassName: "" }] }),
  requests({
    name: "one",
    firstAvailable: many(9, (index) => ({ name: `a${index}`, ...exactly })),
  }),
  asked({ deviceClassName: "" }),
  asked({ deviceClassName: "Bad Name" }),
  asked({ allocationMode: "Some" }),
  asked({ allocationMode: "All" }),
  asked({ count: -1 }),
  asked({ selectors: [{}] }),
  asked({ selectors: many(33, () => ({ cel: { expression: "true" } })) }),
  asked({ selectors: [{ cel: { expression: `'${"x".repeat(10_240)}' == ''` } }] }),
  asked({ tolerations: [{ key: "a b", operator: "Equal", value: "c d", effect: "Odd" }] }),
  asked({ tolerations: [{ operator: "Exists", value: "x" }] }),
  asked({ tolerations: [{ operator: "Odd" }] }),
  claim({ constraints: [{}] }),
  claim({ constraints: [{ matchAttribute: "bare" }] }),
  claim({ constraints: [{ matchAttribute: "example.com/a-b" }] }),
  claim({ constraints: [{ matchAttribute: "/x" }] }),
  claim({ constraints: [{ matchAttribute: "Bad Domain/" }] }),
  claim({ constraints: [{ distinctAttribute: `example.com/${"x".repeat(33)}` }] }),
  claim({ constraints: [{ requests: ["two", "one", "one"], matchAttribute: "example.com/a" }] }),
  claim({ constraints: [{ requests: ["one/two", "a/b/c"], matchAttribute: "example.com/a" }] }),
  claim({ config: [{}] }),
  claim({ config: [{ opaque }] }),
  claim({ config: [{ requests: ["x"], opaque: { driver: "", parameters: null } }] }),
  claim({ config: [{ opaque: { driver: "Bad Name", parameters: [1] } }] }),
  claim({
    config: [{ opaque: { driver: "dra.example.com", parameters: { a: "x".repeat(10_240) } } }],
  }),
  claim({ config: many(33, () => ({ opaque })) }),
];

const allocation = (result: JsonObject, more: JsonObject = {}): Change => ({
  "status/allocation": {
    devices: {
      results: [
        { request: "one", driver: "dra.example.com", pool: "pool", device: "gpu-0", ...result },
      ],
      ...more,
    },
  },
});
const deviceStatus = (more: JsonObject): Change => ({
  ...allocation({}),
  "status/devices": [{ driver: "dra.example.com", pool: "pool", device: "gpu-0", ...more }],
});
const consumer = { resource: "pods", name: "web", uid: "1" };
const selectorTerm = { matchExpressions: [{ key: "a", operator: "Exists" }] };

const slice: JsonObject = {
  driver: "dra.example.com",
  nodeName: "one",
  pool: { name: "pool", resourceSliceCount: 1 },
  devices: [{ name: "gpu-0" }],
};
const device = (more: JsonObject): Change => spec({ devices: [{ name: "gpu-0", ...more }] });
const attribute = (name: string, value: Json): Change => device({ attributes: { [name]: value } });
const policy = (
  requestPolicy: Json,
  more: JsonObject = { allowMultipleAllocations: true },
): Change => device({ capacity: { memory: { value: "10", requestPolicy } }, ...more });
const perDevice = (more: JsonObject): Change =>
  spec({
    nodeName: undefined,
    perDeviceNodeSelection: true,
    devices: [{ name: "gpu-0", ...more }],
  });

export const deviceCases: readonly KindCases[] = [
  {
    kind: "resource.k8s.io/v1/ResourceClaim",
    fields: () => ({ spec: claim({}) }),
    create: [...claimSpecs.map((one): Change => ({ spec: one })), { "metadata/name": "Bad" }],
    update: [
      {},
      { spec: asked({ count: 2 }) },
      { spec: claim({ constraints: [{ matchAttribute: "example.com/a" }], config: [{ opaque }] }) },
      {
        spec: requests({
          name: "one",
          firstAvailable: [{ name: "a", ...exactly, tolerations: [{ operator: "Exists" }] }],
        }),
      },
    ],
    status: [
      {},
      { "status/reservedFor": [consumer] },
      allocation({}),
      allocation({ request: "two" }),
      allocation({ driver: "", pool: "", device: "" }),
      allocation({ driver: "Bad Name", pool: "Bad/pool", device: "Bad" }),
      allocation({ shareID: "x" }),
      allocation({ shareID: "7A3C1F5E-0000-4000-8000-00000000000A" }),
      allocation({ bindingConditions: ["a"] }),
      allocation({ bindingFailureConditions: ["a b"] }),
      allocation({ bindingConditions: ["a", "a"], bindingFailureConditions: ["a", "b"] }),
      allocation({}, { config: [{}] }),
      allocation({}, { config: [{ source: "Odd", requests: ["x"], opaque }] }),
      { ...allocation({}), "status/allocation/nodeSelector": { nodeSelectorTerms: [] } },
      { ...allocation({}), "status/reservedFor": [{}, consumer, consumer] },
      deviceStatus({}),
      deviceStatus({ device: "gpu-1" }),
      deviceStatus({
        conditions: [{ type: "", status: "", reason: "", message: "", lastTransitionTime: null }],
      }),
      deviceStatus({ data: [1] }),
      deviceStatus({
        networkData: { interfaceName: "x".repeat(257), hardwareAddress: "x".repeat(129) },
      }),
      deviceStatus({
        networkData: { ips: ["10.0.0.1/24", "10.0.0.1/24", "x", "010.0.0.1/8", "2001:DB8::1/64"] },
      }),
    ],
  },
  {
    kind: "resource.k8s.io/v1/ResourceClaimTemplate",
    fields: () => ({ spec: { spec: claim({}) } }),
    create: [
      ...claimSpecs.map((one): Change => ({ "spec/spec": one })),
      spec({ metadata: { labels: { a: "b c" }, annotations: { "a b": "c" } } }),
      spec({ metadata: { name: "x", namespace: "y", finalizers: ["z"] } }),
    ],
    update: [{}, spec({ spec: asked({ count: 2 }) }), spec({ metadata: { labels: { a: "b" } } })],
  },
  {
    kind: "resource.k8s.io/v1/DeviceClass",
    fields: () => ({ spec: {} }),
    create: [
      {},
      spec({ selectors: [{}] }),
      spec({ selectors: many(33, () => ({ cel: { expression: "true" } })) }),
      spec({ config: [{}] }),
      spec({ config: [{ opaque }] }),
      spec({ config: [{ opaque: { driver: "", parameters: null } }] }),
      spec({ config: [{ opaque: { driver: "dra.example.com", parameters: "x" } }] }),
      spec({ config: many(33, () => ({ opaque })) }),
      spec({ extendedResourceName: "cpu" }),
      spec({ extendedResourceName: "example.com/gpu" }),
      spec({ extendedResourceName: "requests.example.com/gpu" }),
      { "metadata/name": "Bad" },
      { "metadata/name": "a/b" },
    ],
    update: [{}, spec({ selectors: [{}] }), spec({ extendedResourceName: "memory" })],
  },
  {
    kind: "resource.k8s.io/v1/ResourceSlice",
    fields: () => ({ spec: slice }),
    create: [
      {},
      { spec: {} },
      spec({ driver: "" }),
      spec({ driver: "Bad Name" }),
      spec({ driver: "Upper.example.com" }),
      spec({ pool: {} }),
      spec({ pool: { name: "Bad//pool", resourceSliceCount: -1, generation: -1 } }),
      spec({
        pool: {
          name: "pool",
          resourceSliceCount: -(2n ** 53n) - 1n,
          generation: -(2n ** 53n) - 1n,
        },
      }),
      spec({ nodeName: "" }),
      spec({ nodeName: "Bad" }),
      spec({ allNodes: true }),
      spec({ allNodes: false }),
      spec({ nodeName: undefined }),
      spec({ nodeName: undefined, nodeSelector: { nodeSelectorTerms: [] } }),
      spec({
        nodeName: undefined,
        nodeSelector: { nodeSelectorTerms: [selectorTerm, selectorTerm] },
      }),
      spec({
        nodeName: undefined,
        nodeSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "a b", operator: "Odd" }] }],
        },
      }),
      spec({ devices: many(129, (index) => ({ name: `d${index}` })) }),
      spec({ devices: [{ name: "a" }, { name: "a" }] }),
      spec({ sharedCounters: [{ name: "one", counters: { a: { value: "1" } } }] }),
      spec({ devices: undefined, sharedCounters: [{ name: "", counters: {} }] }),
      spec({
        devices: undefined,
        sharedCounters: [{ name: "A", counters: { "B c": { value: "1" } } }],
      }),
      device({ name: "Bad" }),
      attribute("a-b", { bool: true }),
      attribute("example.com/a", {}),
      attribute("/a", { int: 1 }),
      attribute("example.com/", { int: 1 }),
      attribute("a", { int: 1, string: "x" }),
      attribute("a", { string: "x".repeat(65) }),
      attribute("a", { version: "1.2" }),
      attribute("a", { version: `1.2.3-${"x".repeat(300)}` }),
      attribute("a", { version: "18446744073709551616.0.0" }),
      attribute("ü".repeat(60), {}),
      attribute(`${"x".repeat(50)}/${"y".repeat(50)}`, {}),
      attribute("a/b/c", { bool: false }),
      attribute("\u0130.example.com/a", { bool: false }),
      attribute("a", { strings: ["x"] }),
      device({
        attributes: Object.fromEntries(many(33, (index) => [`a${index}`, { int: index }])),
      }),
      device({
        attributes: Object.fromEntries(many(49, (index) => [`a${index}`, { int: index }])),
      }),
      device({
        consumesCounters: [
          {
            counterSet: "a",
            counters: Object.fromEntries(many(33, (index) => [`c${index}`, { value: "1" }])),
          },
        ],
      }),
      spec({
        devices: many(65, (index) => ({
          name: `d${index}`,
          taints: [{ key: "a", effect: "None" }],
        })),
      }),
      device({ taints: many(17, () => ({ key: "a", effect: "None" })) }),
      policy({ validValues: ["1", "2"] }),
      policy({ default: "3", validValues: ["2", "1", "1", "11"] }),
      policy({ default: "1", validRange: {} }),
      policy({ validRange: { min: "1" } }),
      policy({ default: "1", validRange: { min: "2", max: "11", step: "3" } }),
      policy({ default: "2", validRange: { min: "12", max: "11" } }),
      policy({ default: "2", validRange: { min: "2", max: "8", step: "2" } }),
      policy({ default: "1", validValues: ["1"], validRange: { min: "1" } }),
      policy({ default: "0", validRange: { min: "0", step: "1Ki" } }),
      policy({ default: "1", validRange: { min: "1", step: "1Ki" } }),
      policy({ default: "500m", validValues: ["500m", "1"] }),
      policy({ default: "1", validValues: many(11, (index) => String(index)) }),
      policy({ default: "1" }),
      policy({ default: "1", validValues: ["1"] }, {}),
      device({ taints: [{ key: "", value: "a b", effect: "" }] }),
      device({ taints: [{ key: "a", effect: "Odd" }] }),
      device({ consumesCounters: [{ counterSet: "", counters: {} }] }),
      device({
        consumesCounters: [
          { counterSet: "a", counters: { x: { value: "1" } } },
          { counterSet: "a", counters: { x: { value: "1" } } },
        ],
      }),
      device({ nodeName: "one" }),
      perDevice({}),
      perDevice({ nodeName: "" }),
      perDevice({ nodeName: "one", allNodes: true }),
      perDevice({ allNodes: false, nodeSelector: { nodeSelectorTerms: [] } }),
      device({ bindingConditions: ["a"] }),
      device({ bindingConditions: ["a", "b c"], bindingFailureConditions: ["a"] }),
      device({ nodeAllocatableResourceMappings: { cpu: {} } }),
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      spec({ driver: "other.example.com" }),
      spec({ nodeName: "two" }),
      spec({ "pool/name": "other" }),
      spec({ "pool/generation": -1 }),
      device({ taints: [{ key: "", effect: "" }] }),
    ],
  },
  {
    kind: "node.k8s.io/v1/RuntimeClass",
    fields: () => ({ handler: "runc" }),
    create: [
      {},
      { handler: "" },
      { handler: "Bad.Handler" },
      { overhead: { podFixed: { cpu: "-1" } } },
      { overhead: { podFixed: { gold: "1" } } },
      { overhead: { podFixed: { "example.com/gpu": "1500m" } } },
      { overhead: { podFixed: { "hugepages-2Mi": "2Mi" } } },
      { overhead: { podFixed: { cpu: "1" } } },
      { scheduling: { nodeSelector: { "a b": "c d" } } },
      { scheduling: { nodeSelector: { "beta.kubernetes.io/os": "linux" } } },
      { scheduling: { tolerations: [{ key: "a b", operator: "Odd", effect: "Odd" }] } },
      { scheduling: { tolerations: [{ operator: "Equal" }] } },
      { scheduling: { tolerations: [{ key: "a", operator: "Exists", value: "x" }] } },
      {
        scheduling: {
          tolerations: [
            { key: "a", operator: "Exists" },
            { key: "a", operator: "Exists", tolerationSeconds: 5, effect: "" },
          ],
        },
      },
      {
        scheduling: {
          tolerations: [
            { key: "a", operator: "Exists" },
            { key: "a", operator: "Exists" },
          ],
        },
      },
      { "metadata/name": "Bad" },
    ],
    update: [{}, { handler: "other" }, { handler: "" }, { overhead: { podFixed: { cpu: "-1" } } }],
  },
];
