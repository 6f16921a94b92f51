// Requests for certificates, trusted authorities, and what is asked before a write, with something wrong in them.

import type { Json, JsonObject } from "@keelson/base";

import { authority, certificateRequest, otherAuthority } from "../kinds/fixed-pem.ts";
import { spec, type Change, type KindCases } from "./cases.ts";
import { signedRequests } from "./signed-requests.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const condition = (type: string, status = "True"): Json => ({
  type,
  status,
  reason: "x",
  message: "y",
});
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const headed = authority.replace("-----\n", "-----\nSome: header\n\n");

const hook = {
  name: "one.example.com",
  clientConfig: { url: "https://example.com/hook" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const webhook = (more: JsonObject): Change => ({ webhooks: [{ ...hook, ...more }] });
const fullRule = {
  apiGroups: ["apps"],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["deployments"],
};
const rules = (more: JsonObject): Change => webhook({ rules: [{ ...fullRule, ...more }] });
const match = (more: JsonObject): Change =>
  spec({ matchConstraints: { resourceRules: [fullRule], ...more } });
const conditions = (...list: readonly JsonObject[]): Json => list;
const webhookCases: readonly Change[] = [
  {},
  { webhooks: [] },
  webhook({ name: "" }),
  webhook({ name: "one.two" }),
  webhook({ name: "Bad Name" }),
  { webhooks: [hook, hook] },
  webhook({ clientConfig: {} }),
  webhook({ clientConfig: { url: "https://x.com", service: { name: "a", namespace: "b" } } }),
  webhook({ clientConfig: { url: "http://x.com?a=b#c" } }),
  webhook({ clientConfig: { url: "https://user@x.com" } }),
  webhook({ clientConfig: { service: { name: "", namespace: "", port: 70_000, path: "x" } } }),
  webhook({ clientConfig: { service: { name: "a", namespace: "b", path: "/x/Y" } } }),
  webhook({ sideEffects: "Some" }),
  webhook({ sideEffects: undefined as unknown as Json }),
  webhook({ sideEffects: "Odd" }),
  webhook({ admissionReviewVersions: [] }),
  webhook({ admissionReviewVersions: ["v2", "v2", "V3"] }),
  webhook({ admissionReviewVersions: ["v2", "v1beta1"] }),
  webhook({ failurePolicy: "Odd" }),
  webhook({ matchPolicy: "Odd" }),
  webhook({ timeoutSeconds: 0 }),
  webhook({ timeoutSeconds: 31 }),
  webhook({ namespaceSelector: { matchLabels: { a: "b c" } } }),
  webhook({ objectSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } }),
  rules({}),
  rules({ operations: [] }),
  rules({ operations: ["*", "CREATE"] }),
  rules({ operations: ["READ"] }),
  rules({ apiGroups: [] }),
  rules({ apiGroups: ["*", "a"], apiVersions: ["*", "b"] }),
  rules({ apiVersions: [""] }),
  rules({ apiVersions: [] }),
  rules({ resources: [] }),
  rules({ resources: ["", "a"] }),
  rules({ resources: ["*/*", "a"] }),
  rules({ resources: ["*", "a"] }),
  rules({ resources: ["a/*", "a/b"] }),
  rules({ resources: ["*/status", "a/status"] }),
  rules({ scope: "World" }),
  webhook({ matchConditions: conditions({ name: "", expression: "" }) }),
  webhook({ matchConditions: conditions({ name: "a b", expression: "true" }) }),
  webhook({
    matchConditions: conditions(
      { name: "a", expression: "true" },
      { name: "a", expression: "true" },
    ),
  }),
  { "metadata/name": "Bad" },
  { "metadata/name": "some.static.k8s.io" },
];
const webhookUpdates: readonly Change[] = [
  {},
  { webhooks: [hook, hook] },
  webhook({ sideEffects: "Some" }),
  rules({ resources: [] }),
  webhook({ matchConditions: conditions({ name: "", expression: " " }) }),
];
const policyCases: readonly Change[] = [
  {},
  { spec: {} },
  spec({ failurePolicy: "Odd" }),
  spec({ paramKind: {} }),
  spec({ paramKind: { apiVersion: "a/b/c", kind: "Bad Kind" } }),
  spec({ paramKind: { apiVersion: "Bad/V1", kind: "ok" } }),
  spec({ paramKind: { apiVersion: "apps/", kind: "ok" } }),
  spec({ paramKind: { apiVersion: "/", kind: "ok" } }),
  spec({ matchConstraints: undefined }),
  match({ resourceRules: [] }),
  match({ matchPolicy: "Odd" }),
  match({ namespaceSelector: { matchLabels: { a: "b c" } } }),
  match({ objectSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } }),
  match({ resourceRules: [{ ...fullRule, resourceNames: ["a/b", "c", "c"] }] }),
  match({ excludeResourceRules: [{ ...fullRule, operations: [] }] }),
  match({ resourceRules: [{ ...fullRule, operations: ["DELETE"] }] }),
  spec({ matchConditions: [{ name: "", expression: "" }] }),
  spec({
    matchConditions: [
      { name: "a", expression: "true" },
      { name: "a", expression: "true" },
    ],
  }),
  spec({ variables: [{ name: "", expression: "" }] }),
  spec({ variables: [{ name: "a-b", expression: "1" }] }),
  spec({ variables: [{ name: "for", expression: "1" }] }),
  { "metadata/name": "Bad" },
  { "metadata/name": "some.static.k8s.io" },
];
const bindingCases: readonly Change[] = [
  {},
  spec({ policyName: "" }),
  spec({ policyName: "Bad" }),
  spec({ paramRef: {} }),
  spec({ paramRef: { name: "a/b", parameterNotFoundAction: "Deny" } }),
  spec({ paramRef: { name: "a", selector: {}, parameterNotFoundAction: "Allow" } }),
  spec({ paramRef: { selector: { matchLabels: { a: "b c" } }, parameterNotFoundAction: "Odd" } }),
  spec({ matchResources: {} }),
  spec({ matchResources: { matchPolicy: "Odd" } }),
  spec({ matchResources: { resourceRules: [{}] } }),
  spec({ matchResources: { resourceRules: [{ ...fullRule, operations: ["DELETE"] }] } }),
  { "metadata/name": "Bad" },
];
const resource = { resourceRules: [fullRule] };

export const certificateCases: readonly KindCases[] = [
  {
    kind: "certificates.k8s.io/v1/CertificateSigningRequest",
    fields: () => ({
      spec: {
        request: base64(certificateRequest),
        signerName: "example.com/signer",
        usages: ["client auth"],
      },
    }),
    create: [
      {},
      { spec: {} },
      spec({ request: base64("nothing") }),
      spec({ request: base64(authority) }),
      ...signedRequests().map((request) => spec({ request: base64(request) })),
      spec({ usages: [] }),
      spec({ usages: ["magic", "client auth"] }),
      spec({ usages: ["client auth", "client auth"] }),
      spec({ signerName: "" }),
      spec({ signerName: "signer" }),
      spec({ signerName: "a/b/c" }),
      spec({ signerName: "example/signer" }),
      spec({ signerName: "Bad.example.com/signer" }),
      spec({ signerName: "example.com/Bad Signer" }),
      spec({ signerName: "example.com/" }),
      spec({ signerName: `${"x.".repeat(130)}com/a` }),
      spec({ signerName: "kubernetes.io/legacy-unknown" }),
      spec({ expirationSeconds: 599 }),
      spec({ expirationSeconds: 600 }),
      spec({ username: "someone", groups: ["a"], uid: "b" }),
      { "metadata/name": "Any:Name" },
      { "metadata/name": "a/b" },
    ],
    update: [
      {},
      spec({ usages: [] }),
      { "status/certificate": base64(authority) },
      { "status/conditions": [condition("Approved")] },
      { "metadata/labels": { a: "b c" } },
    ],
    status: [
      {},
      { "status/certificate": base64(authority) },
      { "status/certificate": base64("nothing") },
      { "status/certificate": base64(certificateRequest) },
      { "status/certificate": base64(headed) },
      { "status/certificate": base64(broken) },
      { "status/conditions": [condition("Approved")] },
      { "status/conditions": [condition("Denied", "False")] },
      { "status/conditions": [condition("Failed")] },
      { "status/conditions": [condition("Failed", "False")] },
      { "status/conditions": [condition("Odd", "Perhaps")] },
      { "status/conditions": [condition("", "")] },
      { "status/conditions": [condition("Other"), condition("More", "Unknown")] },
    ],
    approval: [
      {},
      { "status/conditions": [condition("Approved")] },
      { "status/conditions": [condition("Denied")] },
      { "status/conditions": [condition("Approved"), condition("Denied")] },
      { "status/conditions": [condition("Approved"), condition("Approved")] },
      { "status/conditions": [condition("Approved", "False")] },
      { "status/conditions": [condition("Approved", "")] },
      { "status/conditions": [condition("", "True")] },
      { "status/certificate": base64(authority) },
      { "spec/usages": [] },
    ],
  },
  {
    kind: "certificates.k8s.io/v1beta1/ClusterTrustBundle",
    name: (index) => `bundle-${index}`,
    fields: () => ({ spec: { trustBundle: authority } }),
    create: [
      {},
      spec({ trustBundle: "" }),
      spec({ trustBundle: "nothing" }),
      spec({ trustBundle: certificateRequest }),
      spec({ trustBundle: headed }),
      spec({ trustBundle: broken }),
      spec({ trustBundle: authority + authority }),
      spec({ trustBundle: authority + otherAuthority }),
      spec({ trustBundle: `${broken}${certificateRequest}${authority}` }),
      spec({ trustBundle: `text before\n${authority}text after\n` }),
      spec({ trustBundle: "x".repeat(1_048_577) }),
      spec({ signerName: "example.com/one" }),
      { "metadata/name": "example.com:one:two", ...spec({ signerName: "example.com/one" }) },
      { "metadata/name": "example.com:one:Bad", ...spec({ signerName: "example.com/one" }) },
      { "metadata/name": "Bad:one:two", ...spec({ signerName: "Bad/one" }) },
      { "metadata/name": "a:b" },
      { "metadata/name": "Bad" },
    ],
    update: [
      {},
      spec({ trustBundle: otherAuthority }),
      spec({ trustBundle: "x" }),
      spec({ signerName: "example.com/one" }),
    ],
  },
  {
    kind: "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
    fields: () => ({ webhooks: [{ ...hook, rules: [{ ...fullRule, resources: ["never"] }] }] }),
    create: webhookCases,
    update: webhookUpdates,
  },
  {
    kind: "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
    fields: () => ({ webhooks: [{ ...hook, rules: [{ ...fullRule, resources: ["never"] }] }] }),
    create: [...webhookCases, webhook({ reinvocationPolicy: "Odd" })],
    update: webhookUpdates,
  },
  {
    kind: "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
    fields: () => ({ spec: { matchConstraints: resource, validations: [{ expression: "true" }] } }),
    create: [
      ...policyCases,
      spec({ validations: [] }),
      spec({ validations: [{ expression: " " }] }),
      spec({ validations: [{ expression: "true", message: " ", messageExpression: " " }] }),
      spec({ validations: [{ expression: "true", message: "a\nb", reason: "Odd" }] }),
      spec({ validations: [{ expression: "true", message: "\u0085" }] }),
      spec({ validations: [{ expression: "true", message: "\ufeff" }] }),
      spec({ auditAnnotations: [{ key: "a b", valueExpression: "" }] }),
      spec({
        auditAnnotations: [
          { key: "a", valueExpression: "'x'" },
          { key: "a", valueExpression: "'x'" },
        ],
      }),
      spec({ auditAnnotations: [{ key: "a", valueExpression: `'${"x".repeat(5120)}'` }] }),
      spec({
        auditAnnotations: Array.from({ length: 21 }, (_, index) => ({
          key: `k${index}`,
          valueExpression: "'x'",
        })),
      }),
    ],
    update: [
      {},
      spec({ failurePolicy: "Odd" }),
      spec({ validations: [] }),
      spec({ matchConditions: [{ name: "", expression: "" }] }),
    ],
    status: [
      {},
      { "status/typeChecking": { expressionWarnings: [{ fieldRef: "", warning: "" }] } },
      {
        "status/typeChecking": {
          expressionWarnings: [{ fieldRef: "spec.validations[0].expression", warning: "x" }],
        },
      },
      ...["50%", "a *", "a/b.c[x]", "10.0.0.1", " ", "a[?(@.b)]", "'a"].map((fieldRef) => ({
        "status/typeChecking": { expressionWarnings: [{ fieldRef, warning: "x" }] },
      })),
      {
        "status/conditions": [
          { type: "", status: "Odd", reason: "", message: "", lastTransitionTime: null },
        ],
      },
    ],
  },
  {
    kind: "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
    fields: () => ({
      spec: {
        matchConstraints: resource,
        mutations: [
          { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } },
        ],
        reinvocationPolicy: "Never",
      },
    }),
    create: [
      ...policyCases,
      spec({ mutations: [] }),
      spec({ mutations: [{ patchType: "" }] }),
      spec({ mutations: [{ patchType: "Odd" }] }),
      spec({ mutations: [{ patchType: "JSONPatch" }] }),
      spec({ mutations: [{ patchType: "ApplyConfiguration" }] }),
      spec({
        mutations: [
          {
            patchType: "ApplyConfiguration",
            jsonPatch: { expression: "[]" },
            applyConfiguration: { expression: "" },
          },
        ],
      }),
      spec({ reinvocationPolicy: "" }),
      spec({ reinvocationPolicy: "Odd" }),
    ],
    update: [{}, spec({ failurePolicy: "Odd" }), spec({ mutations: [] })],
  },
  {
    kind: "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
    fields: () => ({ spec: { policyName: "one", validationActions: ["Deny"] } }),
    create: [
      ...bindingCases,
      spec({ validationActions: [] }),
      spec({ validationActions: ["Deny", "Warn"] }),
      spec({ validationActions: ["Deny", "Deny", "Odd"] }),
    ],
    update: [{}, spec({ policyName: "" }), spec({ validationActions: [] })],
  },
  {
    kind: "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding",
    fields: () => ({ spec: { policyName: "one" } }),
    create: [...bindingCases, spec({ policyName: "a/b" })],
    update: [{}, spec({ policyName: "" })],
  },
];
