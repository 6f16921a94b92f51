// CustomResourceDefinitions with something wrong in them.

import type { Json, JsonObject } from "@keelson/base";

import { authority } from "../kinds/fixed-pem.ts";
import type { Change, KindCases } from "./cases.ts";

const schema = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  openAPIV3Schema: { type: "object", properties, ...more },
});
const plain = schema({ spec: { type: "object", properties: { size: { type: "integer" } } } });
const other = schema({ spec: { type: "object", properties: { size: { type: "string" } } } });
const version = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: plain,
  ...more,
});
const root = (more: JsonObject): Change => ({
  "spec/versions/0/schema/openAPIV3Schema": { type: "object", ...more },
});
const field = (more: JsonObject): Change => root({ properties: { f: more } });
const scale = (more: JsonObject): Change => ({
  "spec/versions/0/subresources": {
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", ...more },
  },
});
const column = (more: JsonObject): Change => ({
  "spec/versions/0/additionalPrinterColumns": [
    { name: "Size", type: "integer", jsonPath: ".spec.size", ...more },
  ],
});
const selectable = (...paths: readonly string[]): Change => ({
  "spec/versions/0/selectableFields": paths.map((jsonPath) => ({ jsonPath })),
});
const conversion = (webhook: Json, strategy = "Webhook"): Change => ({
  "spec/conversion": { strategy, ...(webhook === null ? {} : { webhook }) },
});
const client = (clientConfig: JsonObject): Change =>
  conversion({ clientConfig, conversionReviewVersions: ["v1"] });
const service = (more: JsonObject): Change =>
  client({ service: { namespace: "default", name: "hook", port: 443, ...more } });
const bundle = (text: string): string => Buffer.from(text).toString("base64");
const manyFields = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [`f${index}`, { type: "string" }]),
);
const garbage = bundle("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");

const create: readonly Change[] = [
  {},
  { "metadata/name": "other.lab.example.com" },
  { "metadata/name": "Other" },
  { "spec/group": undefined, "metadata/name": "things." },
  { "spec/group": "lab", "metadata/name": "things.lab" },
  { "spec/group": "Lab.Example.com" },
  { "spec/group": "lab..com" },
  { "spec/scope": undefined },
  { "spec/scope": "Global" },
  { "spec/names/plural": undefined },
  { "spec/names/plural": "Things" },
  { "spec/names/singular": "Thing" },
  { "spec/names/singular": "thing_" },
  {
    "spec/names/kind": undefined,
    "spec/names/listKind": undefined,
    "spec/names/singular": undefined,
  },
  {
    "spec/names/kind": "Thi.ng",
    "spec/names/singular": "thing",
    "spec/names/listKind": "ThingList",
  },
  {
    "spec/names/kind": "1Thing",
    "spec/names/singular": "thing",
    "spec/names/listKind": "ThingList",
  },
  { "spec/names/listKind": "Thing" },
  { "metadata/generateName": "things-", "metadata/labels": { a: "b c" } },
  { "metadata/name": "Bad", "metadata/labels": { a: "b c" } },
  { "spec/names/listKind": "Things_List" },
  { "spec/names/listKind": "Th\u0130ngs" },
  { "spec/names/shortNames": ["t", "T", ""] },
  { "spec/names/categories": ["all", "All", "-"] },
  { "spec/versions": [] },
  { "spec/versions/0/name": "V1" },
  { "spec/versions/0/name": "1v" },
  { "spec/versions/0/name": "v1.0" },
  { "spec/versions/0/storage": false },
  { "spec/versions/-": version("v2", { storage: true }) },
  { "spec/versions/-": version("v1", { schema: other }) },
  { "spec/versions/-": version("v1") },
  { "spec/versions/-": version("v2") },
  { "spec/versions/-": version("v2", { schema: other }), "spec/versions/0/name": "V1" },
  { "spec/versions/0/schema": undefined },
  { "spec/versions/0/schema": {} },
  { "spec/versions/-": version("v2", { schema: {} }) },
  { "spec/versions/0/deprecationWarning": "old" },
  { "spec/versions/0/deprecated": true, "spec/versions/0/deprecationWarning": "" },
  { "spec/versions/0/deprecated": true, "spec/versions/0/deprecationWarning": "x".repeat(257) },
  { "spec/versions/0/deprecated": true, "spec/versions/0/deprecationWarning": "new\nline" },
  { "spec/versions/0/deprecated": true, "spec/versions/0/deprecationWarning": "fine" },
  { "spec/preserveUnknownFields": true },
  { "spec/preserveUnknownFields": true, ...field({ type: "string", default: "x" }) },
  { "spec/preserveUnknownFields": true, ...client({ url: "https://x" }) },
  scale({}),
  scale({ specReplicasPath: undefined as unknown as Json }),
  scale({ specReplicasPath: "spec.replicas" }),
  scale({ specReplicasPath: ".status.replicas" }),
  scale({ statusReplicasPath: "" }),
  scale({ statusReplicasPath: ".spec.replicas" }),
  scale({ statusReplicasPath: "x" }),
  scale({ labelSelectorPath: ".metadata.labels" }),
  scale({ labelSelectorPath: "x" }),
  scale({ labelSelectorPath: ".status.selector" }),
  { ...scale({ specReplicasPath: "x" }), "spec/versions/-": version("v2") },
  column({}),
  column({ name: "" }),
  column({ type: "" }),
  column({ type: "float" }),
  column({ format: "money" }),
  column({ format: "date-time" }),
  column({ jsonPath: "" }),
  column({ jsonPath: "spec.size" }),
  column({ jsonPath: ".spec[*].x" }),
  { ...column({ type: "x", jsonPath: "y" }), "spec/versions/-": version("v2") },
  selectable(".spec.size"),
  selectable(""),
  selectable("spec.size"),
  selectable(".spec.nothing"),
  selectable(".spec"),
  selectable(".spec['size']"),
  selectable(".spec.size", ".spec.size"),
  selectable(".metadata.name"),
  {
    ...root({
      properties: { metadata: { type: "object", properties: { name: { type: "string" } } } },
    }),
    ...selectable(".metadata.name"),
  },
  {
    ...root({ properties: manyFields }),
    ...selectable(...Object.keys(manyFields).map((name) => `.${name}`)),
  },
  { ...selectable(".spec.size"), "spec/versions/0/schema": undefined },
  { ...selectable(".spec.nothing"), "spec/versions/-": version("v2") },
  {
    ...selectable(".spec.size"),
    "spec/versions/0/schema": undefined,
    "spec/versions/-": version("v2"),
  },
  conversion(null),
  conversion(null, "Magic"),
  conversion(null, ""),
  conversion({ conversionReviewVersions: ["v1"] }, "None"),
  conversion({ clientConfig: { url: "https://x" }, conversionReviewVersions: ["v1"] }, "None"),
  conversion({ clientConfig: { url: "https://x" }, conversionReviewVersions: [] }),
  conversion({ clientConfig: { url: "https://x" }, conversionReviewVersions: ["v2", "v2", "V3"] }),
  conversion({ clientConfig: { url: "https://x" }, conversionReviewVersions: ["v2", "v1beta1"] }),
  conversion({ conversionReviewVersions: ["v1"] }),
  client({}),
  client({ url: "https://x", service: { namespace: "a", name: "b", port: 443 } }),
  client({ url: "http://host/path" }),
  client({ url: "https:///path" }),
  client({ url: "https://user:word@host" }),
  client({ url: "https://host/#here" }),
  client({ url: "https://host/?a=b" }),
  client({ url: "://host" }),
  client({ url: "" }),
  client({ url: "https://host:port/" }),
  client({ url: "https://ho st/" }),
  client({ url: "https://host/%zz" }),
  client({ url: "host:80/path" }),
  service({}),
  service({ name: "" }),
  service({ namespace: "" }),
  service({ port: 0 }),
  service({ port: 65536 }),
  service({ path: "no-slash" }),
  service({ path: "//" }),
  service({ path: "/a//b/" }),
  service({ path: "/a/B" }),
  client({ url: "https://x", caBundle: garbage }),
  root({ type: "string" }),
  root({ nullable: true }),
  {
    ...root({ maxProperties: 3, additionalProperties: { type: "string" } }),
    "spec/versions/0/subresources": { status: {} },
  },
  { ...root({ type: "array" }), "spec/versions/0/subresources": { status: {} } },
  root({ properties: { metadata: { type: "string" } } }),
  root({ properties: { apiVersion: { type: "integer" } } }),
  root({ properties: { metadata: { type: "object", default: {} } } }),
  field({ type: "foo" }),
  field({ type: "string", default: 5 }),
  field({ type: "object", default: { unknown: 1 } }),
  field({ type: "array" }),
  field({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
  field({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
  field({ "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true }),
  field({ type: "object", "x-kubernetes-embedded-resource": true }),
  field({ type: "string", uniqueItems: true }),
  field({ type: "string", "x-kubernetes-validations": [{ rule: "self.x" }] }),
  field({ type: "string", format: "moon-phase" }),
  field({ type: "string", format: "moon\u007f\u2028" }),
  field({ type: "integer", format: "date" }),
  field({ type: "string", format: "date-time" }),
  { "spec/group": "lab.k8s.io", "metadata/name": "things.lab.k8s.io" },
  {
    "spec/group": "lab.k8s.io",
    "metadata/name": "things.lab.k8s.io",
    "metadata/annotations": { "api-approved.kubernetes.io": "https://github.com/x" },
  },
  {
    "spec/group": "lab.k8s.io",
    "metadata/name": "things.lab.k8s.io",
    "metadata/annotations": { "api-approved.kubernetes.io": "unapproved, a trial" },
  },
  {
    "spec/group": "lab.kubernetes.io",
    "metadata/name": "things.lab.kubernetes.io",
    "metadata/annotations": { "api-approved.kubernetes.io": "yes" },
  },
];

export const definitionCases: KindCases = {
  kind: "apiextensions.k8s.io/v1/CustomResourceDefinition",
  name: (index) => (index === 0 ? "things.lab.example.com" : `things${index}.lab.example.com`),
  fields: (name) => {
    const plural = name.split(".", 1)[0] ?? "";
    return {
      spec: {
        group: "lab.example.com",
        scope: "Namespaced",
        names: { plural, kind: `Thing${plural.slice(6)}` },
        versions: [{ name: "v1", served: true, storage: true, schema: plain }],
      },
    };
  },
  create,
  update: [
    {},
    { "spec/group": "other.example.com" },
    { "spec/names/plural": "others" },
    { "spec/names/singular": "other" },
    { "spec/names/shortNames": ["one"] },
    { "spec/scope": "Cluster" },
    { "spec/names/kind": "Other" },
    { "spec/versions/0/name": "v2" },
    { "spec/versions/0/storage": false, "spec/versions/-": version("v2", { storage: true }) },
    { "spec/versions/0/schema": undefined },
    { "spec/versions/0/served": false },
    { "spec/preserveUnknownFields": true },
    { "metadata/annotations": { "Bad Key": "x" } },
    { "metadata/labels": { a: "b c" } },
    field({ type: "foo" }),
    client({ url: "https://x", caBundle: garbage }),
    client({ url: "https://x", caBundle: bundle("nothing") }),
    client({ url: "https://x", caBundle: bundle(authority) }),
    {
      before: client({ url: "https://x", caBundle: bundle(authority) }),
      after: client({ url: "https://x", caBundle: garbage }),
    },
    {
      before: field({ type: "string", format: "moon" }),
      after: { "spec/names/shortNames": ["two"] },
    },
    {
      before: field({ type: "string", format: "moon" }),
      after: field({ type: "string", format: "sun" }),
    },
  ],
  status: [
    {},
    { "status/acceptedNames/plural": "Bad" },
    { "status/acceptedNames/kind": "Bad Kind" },
    { "status/acceptedNames/listKind": "-" },
    { "status/acceptedNames/shortNames": ["Bad"] },
    { "status/acceptedNames/categories": ["Bad"] },
    { "status/acceptedNames/kind": "Same", "status/acceptedNames/listKind": "Same" },
    { "status/storedVersions": [] },
    { "status/storedVersions": ["v7"] },
    { "status/conditions": [{ type: "", status: "" }] },
    { "spec/group": "ignored" },
  ],
};
