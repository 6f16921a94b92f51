// The small kinds of the core group, wrong in one thing at a time.

import type { Json } from "@keelson/base";

import { long, status, type Change, type KindCases } from "../rules-groups/cases.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const badKeys = ["", "a/b", ".", "..", "..a", long(254), "\u00e9", "a b"];

const configMap: KindCases = {
  kind: "/v1/ConfigMap",
  fields: () => ({ data: { a: "b" } }),
  create: [
    {},
    ...badKeys.map((key): Change => ({ data: { [key]: "x" } })),
    ...badKeys.slice(0, 3).map((key): Change => ({ binaryData: { [key]: base64("x") } })),
    { binaryData: { a: base64("x") } },
    { "data/big": long(1_048_576) },
    { binaryData: { big: base64(long(1_048_577)) } },
    { data: undefined },
    { "metadata/name": "Not_Right" },
    { "metadata/labels": { "a b": "c" } },
    { "metadata/finalizers": ["unqualified"] },
  ],
  update: [
    {},
    { "data/c": "d" },
    { data: { "a/b": "c" } },
    { before: { immutable: true }, after: { "data/a": "c" } },
    { before: { immutable: true }, after: { immutable: false } },
    { before: { immutable: true }, after: { immutable: undefined, data: undefined } },
    { before: { immutable: true }, after: { binaryData: { x: base64("x") } } },
    { before: { immutable: true }, after: { "metadata/labels": { a: "b" } } },
    { before: { immutable: false }, after: { "data/a": "c" } },
  ],
};

const typed = (type: string, data: Readonly<Record<string, string>> = {}): Change => ({
  type,
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});

const pem = (type: string): string => `-----BEGIN ${type}-----\neA==\n-----END ${type}-----\n`;

const secret: KindCases = {
  kind: "/v1/Secret",
  fields: () => ({ data: { a: base64("b") } }),
  create: [
    {},
    ...badKeys.map((key): Change => ({ data: { [key]: base64("x") } })),
    { stringData: { "a/b": "x" } },
    { stringData: { c: "d", a: "e" } },
    { stringData: { big: long(1_048_577) } },
    { "data/big": base64(long(1_048_577)) },
    typed("kubernetes.io/service-account-token"),
    {
      ...typed("kubernetes.io/service-account-token"),
      "metadata/annotations": { "kubernetes.io/service-account.name": "x" },
    },
    typed("kubernetes.io/dockercfg"),
    typed("kubernetes.io/dockercfg", { ".dockercfg": "x" }),
    typed("kubernetes.io/dockercfg", { ".dockercfg": "{}" }),
    typed("kubernetes.io/dockerconfigjson"),
    ...[
      "nope",
      "[]",
      '"x"',
      "3",
      "true",
      "null",
      '{"a"',
      '{"a":}',
      '{"a":1,}',
      "{a:1}",
      "",
      "{}x",
      '["',
      "-",
      "1.",
      '{"a":"\\x"}',
    ].map((text): Change => typed("kubernetes.io/dockerconfigjson", { ".dockerconfigjson": text })),
    typed("kubernetes.io/basic-auth"),
    typed("kubernetes.io/basic-auth", { username: "x" }),
    typed("kubernetes.io/ssh-auth"),
    typed("kubernetes.io/ssh-auth", { "ssh-privatekey": "" }),
    typed("kubernetes.io/ssh-auth", { "ssh-privatekey": "x" }),
    typed("kubernetes.io/tls"),
    typed("kubernetes.io/tls", { "tls.crt": "x" }),
    typed("kubernetes.io/tls", { "tls.crt": "x", "tls.key": "y" }),
    typed("kubernetes.io/tls", { "tls.crt": pem("PRIVATE KEY"), "tls.key": "" }),
    typed("kubernetes.io/tls", { "tls.crt": pem("A") + pem("B"), "tls.key": "" }),
    typed("kubernetes.io/tls", { "tls.crt": pem("CERTIFICATE"), "tls.key": "" }),
    typed("kubernetes.io/tls", { "tls.crt": pem("CERTIFICATE"), "tls.key": pem("CERTIFICATE") }),
    typed("kubernetes.io/tls", { "tls.crt": pem("CERTIFICATE"), "tls.key": pem("A") }),
    typed("example.com/own"),
    { "metadata/name": "Not_Right" },
  ],
  update: [
    {},
    { type: "other" },
    { type: "" },
    { type: undefined },
    { "data/a/b": undefined, data: { "a/b": base64("c") } },
    { stringData: { c: "d" } },
    { before: { immutable: true }, after: { "data/a": base64("c") } },
    { before: { immutable: true }, after: { immutable: undefined } },
    { before: { immutable: true }, after: { stringData: { z: "z" } } },
    { before: typed("kubernetes.io/ssh-auth", { "ssh-privatekey": "x" }), after: { data: {} } },
  ],
};

const namespace: KindCases = {
  kind: "/v1/Namespace",
  fields: () => ({}),
  name: (index) => `space-${index}`,
  create: [
    {},
    { "metadata/name": "with.dots" },
    { "metadata/name": "Not_Right" },
    { "metadata/name": long(64) },
    { "spec/finalizers": ["kubernetes"] },
    { "spec/finalizers": ["example.com/x"] },
    { "spec/finalizers": ["unqualified"] },
    { "spec/finalizers": ["not right/x y"] },
    { "spec/finalizers": ["orphan", ""] },
    { "metadata/finalizers": ["unqualified"] },
    { "metadata/labels": { "kubernetes.io/metadata.name": "other" } },
    { "metadata/labels": { a: "b!" } },
    { "metadata/annotations": { "a b": "c" } },
    { "metadata/ownerReferences": [{ apiVersion: "", kind: "", name: "", uid: "" }] },
  ],
  update: [
    {},
    { "spec/finalizers": ["example.com/x"] },
    { "spec/finalizers": [] },
    { "metadata/labels": { a: "b" } },
    { "metadata/labels": { a: "b!" } },
  ],
  status: [{}, status({ phase: "Terminating" }), status({ phase: "Nothing" }), { status: {} }],
  finalize: [
    {},
    { "spec/finalizers": [] },
    { spec: undefined },
    { "spec/finalizers": ["kubernetes", "example.com/x"] },
    { "spec/finalizers": ["kubernetes", "unqualified"] },
    { "spec/finalizers": ["not right/x y", ""] },
    { "status/phase": "Terminating" },
  ],
};

const serviceAccount: KindCases = {
  kind: "/v1/ServiceAccount",
  fields: () => ({}),
  create: [
    {},
    { "metadata/name": "Not_Right" },
    { "metadata/name": "with.dots" },
    { "metadata/annotations": { "kubernetes.io/enforce-mountable-secrets": "true" } },
    { secrets: [{ name: "x", namespace: "y", kind: "Secret" }] },
    { imagePullSecrets: [{ name: "x" }] },
    { "metadata/labels": { "a b": "c" } },
    { automountServiceAccountToken: false },
  ],
  update: [
    {},
    { "metadata/annotations": { "kubernetes.io/enforce-mountable-secrets": "true" } },
    {
      before: { "metadata/annotations": { "kubernetes.io/enforce-mountable-secrets": "true" } },
      after: { automountServiceAccountToken: false },
    },
    { secrets: [{ name: "x", uid: "y" }] },
    { "metadata/labels": { "a b": "c" } },
  ],
};

const ports = [{ port: 80 }];
const address = {
  clusterIP: "10.96.0.50",
  clusterIPs: ["10.96.0.50"],
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "SingleStack",
};
const balanced = { "spec/type": "LoadBalancer" };
const external: Change = {
  "spec/type": "ExternalName",
  "spec/externalName": "example.com",
  "spec/clusterIP": undefined,
  "spec/clusterIPs": undefined,
  "spec/ipFamilies": undefined,
  "spec/ipFamilyPolicy": undefined,
};
const headless: Change = { "spec/clusterIP": "None", "spec/clusterIPs": ["None"] };

const serviceChanges: readonly Change[] = [
  {},
  { "spec/ports": [] },
  { "spec/ports": [{ port: 0 }] },
  { "spec/ports": [{ port: 70000 }] },
  { "spec/ports": [{ port: 1, protocol: "HTTP" }] },
  { "spec/ports": [{ port: 1, name: "Not_Right" }] },
  { "spec/ports": [{ port: 1 }, { port: 2 }] },
  {
    "spec/ports": [
      { port: 1, name: "a" },
      { port: 2, name: "a" },
    ],
  },
  {
    "spec/ports": [
      { port: 1, name: "a" },
      { port: 1, name: "b" },
    ],
  },
  {
    "spec/ports": [
      { port: 1, name: "a" },
      { port: 1, name: "b", protocol: "UDP" },
    ],
  },
  { "spec/ports": [{ port: 1, targetPort: -1 }] },
  { "spec/ports": [{ port: 1, targetPort: "Not--right" }] },
  { "spec/ports": [{ port: 1, targetPort: 70000 }] },
  { "spec/ports": [{ port: 1, appProtocol: "not right" }] },
  { "spec/selector": { "a b": "c" } },
  { "spec/sessionAffinity": "Nothing" },
  { "spec/sessionAffinityConfig": { clientIP: { timeoutSeconds: 4 } } },
  { "spec/sessionAffinity": "ClientIP" },
  {
    "spec/sessionAffinity": "ClientIP",
    "spec/sessionAffinityConfig": { clientIP: { timeoutSeconds: 0 } },
  },
  {
    "spec/sessionAffinity": "ClientIP",
    "spec/sessionAffinityConfig": { clientIP: { timeoutSeconds: 90000 } },
  },
  {
    "spec/externalIPs": [
      "x",
      "127.0.0.1",
      "0.0.0.0",
      "169.254.1.1",
      "224.0.0.1",
      "::1",
      "fe80::1",
      "01.2.3.4",
    ],
  },
  { "spec/externalIPs": ["1.2.3.4"] },
  { "spec/externalIPs": ["2001:DB8::1"] },
  { "spec/loadBalancerSourceRanges": ["10.0.0.0/8"] },
  {
    ...balanced,
    "spec/loadBalancerSourceRanges": [
      "x",
      "10.0.0.1/8",
      "010.0.0.0/8",
      "::ffff:1.2.3.0/120",
      " 10.0.0.0/8",
    ],
  },
  { ...balanced, "spec/loadBalancerSourceRanges": ["2001:DB8::/64"] },
  { ...balanced, "spec/loadBalancerSourceRanges": ["\u008510.0.0.0/8\u0085"] },
  { ...balanced, "spec/loadBalancerSourceRanges": ["\ufeff10.0.0.0/8"] },
  { "metadata/annotations": { "service.beta.kubernetes.io/load-balancer-source-ranges": "x" } },
  {
    ...balanced,
    "metadata/annotations": {
      "service.beta.kubernetes.io/load-balancer-source-ranges": "x, 10.0.0.0/8",
    },
  },
  { "spec/allocateLoadBalancerNodePorts": true },
  { "spec/loadBalancerClass": "a.b/c" },
  { ...balanced, "spec/loadBalancerClass": "not right" },
  { ...balanced, "spec/loadBalancerClass": "a.b/c" },
  { "spec/externalTrafficPolicy": "Local" },
  { ...balanced, "spec/externalTrafficPolicy": "Nothing" },
  { "spec/type": "NodePort", "spec/externalTrafficPolicy": "Local" },
  { "spec/healthCheckNodePort": 31000 },
  { "spec/internalTrafficPolicy": "Nothing" },
  { "spec/trafficDistribution": "Nothing" },
  { "spec/trafficDistribution": "PreferClose" },
  { "spec/ports": [{ port: 1, nodePort: 31001 }] },
  external,
  { ...external, "spec/externalName": "" },
  { ...external, "spec/externalName": "Not_Right" },
  { ...external, "spec/externalName": "example.com.", "spec/externalIPs": ["1.2.3.4"] },
  headless,
  {
    ...headless,
    "spec/externalIPs": ["1.2.3.4"],
    "spec/loadBalancerIP": "1.2.3.4",
    "spec/sessionAffinity": "ClientIP",
  },
  { "spec/externalName": "example.com" },
  { ...balanced, "spec/loadBalancerIP": "::0001" },
  { "metadata/name": "1-right" },
  { "metadata/name": "with.dots" },
  { "metadata/name": long(64) },
  {
    "metadata/annotations": {
      "service.kubernetes.io/topology-aware-hints": "Auto",
      "service.kubernetes.io/topology-mode": "Disabled",
    },
  },
  { "metadata/annotations": { "service.kubernetes.io/topology-aware-hints": "Auto" } },
];

const ingress = (...value: readonly Json[]): Change => status({ loadBalancer: { ingress: value } });

const service: KindCases = {
  kind: "/v1/Service",
  fields: () => ({ spec: { ports, ...address } }),
  create: serviceChanges,
};

const changingService: KindCases = {
  kind: "/v1/Service",
  fields: () => ({ spec: { ports } }),
  update: [
    {},
    { "spec/ports": [{ port: 0 }] },
    { "spec/ports": [] },
    { "spec/clusterIP": "10.96.0.77", "spec/clusterIPs": ["10.96.0.77"] },
    { "spec/clusterIP": "", "spec/clusterIPs": [] },
    headless,
    { "spec/ipFamilies": ["IPv6"] },
    { "spec/ipFamilyPolicy": "Nothing" },
    { "spec/type": "NodePort" },
    { before: { "spec/type": "NodePort" }, after: { "spec/type": "ClusterIP" } },
    { before: balanced, after: { "spec/type": "ClusterIP" } },
    { before: balanced, after: { "spec/loadBalancerClass": "a.b/c" } },
    {
      before: { ...balanced, "spec/loadBalancerClass": "a.b/c" },
      after: { "spec/loadBalancerClass": undefined },
    },
    {
      before: { ...balanced, "spec/externalTrafficPolicy": "Local" },
      after: { "spec/externalTrafficPolicy": "Cluster" },
    },
    {
      before: { ...balanced, "spec/externalTrafficPolicy": "Local" },
      after: { "spec/type": "ClusterIP" },
    },
    { "spec/type": "ExternalName", "spec/externalName": "example.com" },
    { "spec/type": "ExternalName" },
    { "spec/type": "ExternalName", "spec/internalTrafficPolicy": "*" },
    { "spec/sessionAffinity": "Nothing" },
    { "spec/selector": { a: "b!" } },
    { "spec/type": "Nothing" },
    { "spec/externalTrafficPolicy": "Local" },
    { "spec/trafficDistribution": "PreferClose" },
    { "metadata/labels": { a: "b!" } },
    { before: balanced, after: { "spec/loadBalancerSourceRanges": ["x"] } },
  ],
  status: [
    {},
    ingress({ ip: "1.2.3.4" }),
    { before: balanced, after: ingress({ ip: "1.2.3.4" }) },
    { before: balanced, after: ingress({ ip: "x" }, { ip: "2001:DB8::1", ipMode: "VIP" }) },
    { before: balanced, after: ingress({ ip: "2001:DB8::1", ipMode: "VIP" }) },
    { before: balanced, after: ingress({ ip: "1.2.3.4", ipMode: "Nothing" }) },
    { before: balanced, after: ingress({ hostname: "x", ipMode: "VIP" }) },
    { before: balanced, after: ingress({ hostname: "Not_Right" }, { hostname: "1.2.3.4" }) },
    { before: balanced, after: ingress({ hostname: "example.com" }) },
  ],
};

const subsets = (value: Readonly<Record<string, Json>>): Change => ({ subsets: [value] });
const one = [{ ip: "1.2.3.4" }];

const endpoints: KindCases = {
  kind: "/v1/Endpoints",
  fields: () => ({ subsets: [{ addresses: one, ports: [{ port: 1 }] }] }),
  create: [
    {},
    subsets({}),
    subsets({ addresses: [{ ip: "x" }] }),
    subsets({ addresses: [{ ip: "127.0.0.1" }, { ip: "0.0.0.0" }, { ip: "169.254.0.1" }] }),
    subsets({
      addresses: [{ ip: "224.0.0.1" }, { ip: "ff02::1" }, { ip: "fe80::1" }, { ip: "::" }],
    }),
    subsets({ addresses: [{ ip: "01.2.3.4" }] }),
    subsets({ addresses: [{ ip: "2001:DB8::1" }] }),
    subsets({ notReadyAddresses: [{ ip: "2001:db8:0:0::1" }] }),
    {
      ...subsets({ notReadyAddresses: [{ ip: "2001:db8:0:0::1" }] }),
      "metadata/labels": { "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
    },
    subsets({ addresses: [{ ip: "1.2.3.4", hostname: "Not.Right", nodeName: "Not_Right" }] }),
    subsets({ addresses: one, ports: [{ port: 0 }] }),
    subsets({ addresses: one, ports: [{ port: 70000, protocol: "HTTP" }] }),
    subsets({ addresses: one, ports: [{ port: 1 }, { port: 2 }] }),
    subsets({ addresses: one, ports: [{ port: 1, name: "Not_Right", appProtocol: "not right" }] }),
    { "metadata/name": "Not_Right" },
  ],
  update: [
    {},
    subsets({}),
    subsets({ addresses: [{ ip: "x" }] }),
    subsets({ addresses: [{ ip: "2001:DB8::1" }] }),
    { "metadata/labels": { a: "b!" } },
  ],
};

const hard = (value: Readonly<Record<string, string>>): Change => ({ "spec/hard": value });
const scopes = (...value: readonly string[]): Change => ({ "spec/scopes": value });
const scopeSelector = (...value: readonly Json[]): Change => ({
  "spec/scopeSelector": { matchExpressions: value },
});

const resourceQuota: KindCases = {
  kind: "/v1/ResourceQuota",
  fields: () => ({ spec: { hard: { pods: "1" } } }),
  create: [
    {},
    hard({ pods: "-1" }),
    hard({ pods: "500m" }),
    hard({ nothing: "1" }),
    hard({ storage: "1" }),
    hard({ "not right/x": "1" }),
    hard({ "example.com/gpu": "1500m" }),
    hard({ "count/pods": "1" }),
    hard({ "requests.cpu": "2", "limits.cpu": "1" }),
    hard({ memory: "2Gi", "limits.memory": "1Gi" }),
    hard({ "requests.hugepages-2Mi": "1" }),
    scopes("Nothing"),
    scopes("BestEffort", "NotBestEffort"),
    scopes("Terminating", "NotTerminating", "BestEffort", "NotBestEffort"),
    { ...hard({ cpu: "1" }), ...scopes("BestEffort") },
    { ...hard({ persistentvolumeclaims: "1" }), ...scopes("Terminating") },
    { ...hard({ persistentvolumeclaims: "1" }), ...scopes("VolumeAttributesClass") },
    scopeSelector({ scopeName: "Nothing", operator: "Nothing" }),
    scopeSelector({ scopeName: "PriorityClass", operator: "In" }),
    scopeSelector({ scopeName: "PriorityClass", operator: "Exists", values: ["x"] }),
    scopeSelector({ scopeName: "BestEffort", operator: "In", values: ["x"] }),
    scopeSelector(
      { scopeName: "BestEffort", operator: "Exists" },
      { scopeName: "NotBestEffort", operator: "Exists" },
    ),
    {
      ...hard({ secrets: "1" }),
      ...scopeSelector({ scopeName: "PriorityClass", operator: "In", values: ["x"] }),
    },
  ],
  update: [
    {},
    hard({ pods: "-1" }),
    scopes("BestEffort"),
    { before: scopes("BestEffort"), after: { "spec/scopes": undefined } },
    { before: scopes("BestEffort"), after: scopes("BestEffort", "BestEffort") },
    hard({ "requests.cpu": "2", "limits.cpu": "1" }),
  ],
  status: [
    {},
    status({ hard: { pods: "-1" } }),
    status({ used: { nothing: "1" } }),
    status({ hard: { pods: "1" }, used: { pods: "500m" } }),
  ],
};

const limits = (value: Readonly<Record<string, Json>>): Change => ({ "spec/limits": [value] });

const limitRange: KindCases = {
  kind: "/v1/LimitRange",
  fields: () => ({ spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] } }),
  create: [
    {},
    { "metadata/name": "Not_Right" },
    limits({ type: "" }),
    limits({ type: "Nothing" }),
    limits({ type: "example.com/x", max: { storage: "1" } }),
    { "spec/limits/1": { type: "Pod", max: { cpu: "1" } } },
    limits({ type: "Pod", max: { nothing: "1" } }),
    limits({ type: "Pod", max: { storage: "1" } }),
    limits({ type: "Pod", default: { cpu: "1" }, defaultRequest: { cpu: "1" } }),
    limits({ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }),
    limits({ type: "Container", min: { cpu: "2" }, defaultRequest: { cpu: "1" } }),
    limits({ type: "Container", max: { cpu: "1" }, defaultRequest: { cpu: "2" } }),
    limits({ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "2" } }),
    limits({ type: "Container", min: { cpu: "2" }, default: { cpu: "1" } }),
    limits({ type: "Container", max: { cpu: "1" }, default: { cpu: "2" } }),
    limits({ type: "Container", maxLimitRequestRatio: { cpu: "500m" } }),
    limits({
      type: "Container",
      min: { cpu: "1" },
      max: { cpu: "2" },
      maxLimitRequestRatio: { cpu: "3" },
    }),
    limits({
      type: "Container",
      min: { memory: "3" },
      max: { memory: "10" },
      maxLimitRequestRatio: { memory: "4500m" },
    }),
    limits({
      type: "Container",
      default: { "example.com/gpu": "1" },
      defaultRequest: { "example.com/gpu": "2" },
    }),
    limits({ type: "PersistentVolumeClaim", max: { cpu: "1" } }),
    limits({ type: "PersistentVolumeClaim", max: { storage: "1" } }),
  ],
  update: [{}, limits({ type: "Nothing" }), limits({ type: "Pod", max: { nothing: "1" } })],
};

const event = (value: Change): Change => ({
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingComponent: "a.b/c",
  reportingInstance: "x",
  action: "x",
  reason: "x",
  ...value,
});

const eventCases: KindCases = {
  kind: "/v1/Event",
  fields: () => ({ involvedObject: { namespace: "lab-0" } }),
  create: [
    {},
    { "involvedObject/namespace": "other" },
    { "involvedObject/namespace": undefined },
    { "metadata/name": "Not_Right" },
    { "metadata/name": "a%b" },
    event({}),
    event({ reportingComponent: "" }),
    event({ reportingComponent: "not right" }),
    event({ reportingInstance: "" }),
    event({ reportingInstance: long(129) }),
    event({ action: "" }),
    event({ action: long(129) }),
    event({ reason: "" }),
    event({ reason: long(129) }),
    event({ message: long(1025) }),
    event({ "involvedObject/namespace": undefined }),
    event({ "involvedObject/namespace": "other" }),
  ],
  update: [
    {},
    { "involvedObject/namespace": "other" },
    { reason: "other" },
    { before: event({}), after: { action: "" } },
    { before: event({}), after: { reportingComponent: "" } },
  ],
};

const taints = (...value: readonly Json[]): Change => ({ "spec/taints": value });

const avoidedEntry = (controller: string): string =>
  `{"podSignature":{"podController":${controller}}}`;
const avoided = (controller: string): string => `{"preferAvoidPods":[${avoidedEntry(controller)}]}`;

const node: KindCases = {
  kind: "/v1/Node",
  fields: () => ({}),
  name: (index) => `node-${index}`,
  create: [
    {},
    { "metadata/name": "Not_Right" },
    taints({ key: "", effect: "" }),
    taints({ key: "a b", value: "c!", effect: "Nothing" }),
    taints({ key: "a", effect: "NoSchedule" }, { key: "a", value: "b", effect: "NoSchedule" }),
    status({ capacity: { cpu: "-1" } }),
    status({ allocatable: { pods: "500m" } }),
    status({ nodeInfo: { swap: { capacity: 0 } } }),
    status({ declaredFeatures: ["not right", "B", "A", "A"] }),
    { "spec/podCIDRs": ["x"], "spec/podCIDR": "x" },
    { "spec/podCIDRs": ["10.0.0.1/8"], "spec/podCIDR": "10.0.0.1/8" },
    { "spec/podCIDRs": ["10.0.0.0/8", "11.0.0.0/8"], "spec/podCIDR": "10.0.0.0/8" },
    { "spec/podCIDRs": ["10.0.0.0/8", "2001:DB8::/64"], "spec/podCIDR": "10.0.0.0/8" },
    {
      "spec/podCIDRs": ["10.0.0.0/8", "2001:db8::/64", "2001:db9::/64"],
      "spec/podCIDR": "10.0.0.0/8",
    },
    ...[
      '[{"key":"a b"}]',
      "nope",
      "null",
      "{}",
      "[null]",
      "[1]",
      '[{"key":1},"a"]',
      '[{"KEY":"a","Effect":[]}]',
      '[{"key":1,"timeAdded":"x"}]',
      '[1,{"timeAdded":1}]',
      '[{"Key":"a","key":null,"effect":"NoSchedule","timeadded":"2026-01-01T00:00:00Z"},{"key":"a","effect":"NoSchedule"}]',
    ].map((text) => ({ "metadata/annotations": { "scheduler.alpha.kubernetes.io/taints": text } })),
    ...[
      "nope",
      "null",
      "[]",
      "{}",
      '{"preferAvoidPods":null}',
      '{"preferAvoidPods":{}}',
      '{"preferAvoidPods":[1]}',
      '{"preferAvoidPods":[null]}',
      '{"PREFERAVOIDPODS":[{"podsignature":{"podController":null}}]}',
      avoided('{"controller":false}'),
      avoided('{"controller":true,"uid":"u","kind":"a b"}'),
      avoided('{"controller":1}'),
      avoided('{"controller":true,"uid":1}'),
      avoided('{"controller":true,"apiVersion":[],"uid":1}'),
      avoided("[]"),
      '{"preferAvoidPods":[{"podSignature":1,"reason":1}]}',
      '{"preferAvoidPods":[{"reason":1,"evictionTime":"x"}]}',
      '{"preferAvoidPods":[{"evictionTime":1}]}',
      `{"preferAvoidPods":[{},${avoidedEntry('{"controller":false}')},{}]}`,
    ].map((text) => ({
      "metadata/annotations": { "scheduler.alpha.kubernetes.io/preferAvoidPods": text },
    })),
    {
      "metadata/annotations": {
        "scheduler.alpha.kubernetes.io/preferAvoidPods": "{",
        "scheduler.alpha.kubernetes.io/taints": "[1]",
      },
    },
    { "spec/configSource": {} },
    { "spec/externalID": "x" },
  ],
  update: [
    {},
    taints({ key: "a b", effect: "NoSchedule" }),
    { "spec/podCIDRs": ["10.0.0.0/8"], "spec/podCIDR": "10.0.0.0/8" },
    {
      before: { "spec/podCIDRs": ["10.0.0.0/8"], "spec/podCIDR": "10.0.0.0/8" },
      after: { "spec/podCIDRs": ["11.0.0.0/8"], "spec/podCIDR": "11.0.0.0/8" },
    },
    {
      before: { "spec/podCIDRs": ["10.0.0.0/8"], "spec/podCIDR": "10.0.0.0/8" },
      after: { "spec/podCIDRs": undefined, "spec/podCIDR": undefined },
    },
    { before: { "spec/providerID": "x" }, after: { "spec/providerID": "y" } },
    {
      "metadata/annotations": {
        "scheduler.alpha.kubernetes.io/preferAvoidPods": avoided('{"controller":false}'),
      },
    },
    { "spec/externalID": "x" },
    { "spec/configSource": {} },
    { "spec/unschedulable": true },
  ],
  status: [
    {},
    status({ capacity: { cpu: "-1" } }),
    status({
      addresses: [
        { type: "InternalIP", address: "1" },
        { type: "InternalIP", address: "1" },
      ],
    }),
    status({ declaredFeatures: ["b"] }),
    status({ config: { assigned: {} } }),
  ],
};

export const smallKindCases: readonly KindCases[] = [
  configMap,
  secret,
  namespace,
  serviceAccount,
  service,
  changingService,
  endpoints,
  resourceQuota,
  limitRange,
  eventCases,
  node,
];
