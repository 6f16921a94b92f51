// Lists as long as a request can bring them: nothing compares each item with each other.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";

import { jsonEqual, type Json, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { validateObject } from "./cel/validate-object.ts";
import { validateSchema } from "./cel/validate-schema.ts";
import { acceptNames } from "./crd/naming.ts";
import { fieldManager } from "./apply/field-manager.ts";
import { keepTimes } from "./apply/keep-times.ts";
import { validateMetadata, validateMetadataUpdate } from "./object/metadata-rules.ts";
import { subdomainNames } from "./object/names.ts";
import { decodeJsonPatch, operationsMax } from "./patch/json-patch-decode.ts";
import { applyJsonPatch } from "./patch/json-patch.ts";
import { applyStrategicMergePatch } from "./patch/strategic-merge.ts";
import type { RuleContext } from "./kinds/kind-rules.ts";
import { rulesOf } from "./kinds/rules/rules-of.ts";
import { keyPairWarnings } from "./kinds/rules/core/key-pair-warnings.ts";
import { caBundleProblem } from "./kinds/rules/meta/ca-bundle.ts";
import { decodePem } from "./kinds/rules/meta/pem.ts";
import { prepareObject } from "./schema/prepare.ts";
import type { StructuralSchema } from "./schema/structural.ts";
import { validate } from "./schema/validate.ts";
import { tellFieldErrors, toldErrorsMax, untoldText } from "./status/field-error.ts";
import { StatusError } from "./status/status.ts";
import { deploymentSchema } from "./testing/deployment-schema.ts";
import { answerInThread, threadOf } from "./testing/soon.ts";

const context: RuleContext = { now: "2026-01-01T00:00:00Z", uuid: () => "0000" };
const writing = { manager: "writer", now: context.now };

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const addressOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

/** What a kind says of an object that replaces itself. */
function updateErrors(group: string, kind: string, object: JsonObject): readonly unknown[] {
  return rulesOf({ group, kind }).validateUpdate?.(object, object, context) ?? [];
}

function statusErrors(group: string, kind: string, object: JsonObject): readonly unknown[] {
  return rulesOf({ group, kind }).validateStatusUpdate?.(object, object, context) ?? [];
}

function creationErrors(group: string, kind: string, object: JsonObject): readonly unknown[] {
  return rulesOf({ group, kind }).validate?.(object, context) ?? [];
}

/** How many containers a Deployment has after a patch of them. */
function patched(before: readonly Json[], patch: readonly Json[], order: readonly Json[]): number {
  const object = { spec: { template: { spec: { containers: [...before] } } } };
  const spec = { "$setElementOrder/containers": [...order], containers: [...patch] };
  const result = applyStrategicMergePatch(
    object,
    { spec: { template: { spec } } },
    deploymentSchema,
  );
  return (result as typeof object).spec.template.spec.containers.length;
}

/** What a JSON patch of as many operations as it may have makes of a list. */
function patchedList(length: number, operation: (index: number) => JsonObject): readonly Json[] {
  const { operations } = decodeJsonPatch(many(operationsMax, operation));
  return (applyJsonPatch({ a: many(length, (i) => i) }, operations) as { a: Json[] }).a;
}

const deployments = fieldManager({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  schema: deploymentSchema,
});

/** What somebody is told who applies a Deployment with these containers. */
function messageOfApply(containers: readonly Json[]): string {
  const config = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: { template: { spec: { containers } } },
  };
  try {
    deployments.apply(undefined, config, { manager: "m", force: true, now: context.now });
  } catch (error) {
    if (error instanceof StatusError) return error.status.message ?? "";
    throw error;
  }
  return "";
}

const maps = fieldManager({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  schema: {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      data: { type: "object", additionalProperties: { type: "string" } },
    },
  },
});

const mapOf = (length: number, value: string, managedFields?: readonly Json[]): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "m", uid: "u", ...(managedFields === undefined ? {} : { managedFields }) },
  data: Object.fromEntries(many(length, (i) => [`k${i}`, value])),
});

/** A manager of each of the first members of a map. */
const managersOf = (count: number, operation: "Apply" | "Update"): readonly JsonObject[] =>
  many(count, (i) => ({
    manager: `m${i}`,
    operation,
    apiVersion: "v1",
    time: context.now,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:k${i}`]: {} } },
  }));

function managersIn(object: JsonObject): readonly Json[] {
  const { managedFields = [] } = object["metadata"] as { managedFields?: readonly Json[] };
  return managedFields;
}

/** How the refusal to change so many fields of another, below a name of that length, begins, how many causes it has, and whether it says that there are more. */
function conflictTold(nameLength: number, count: number): readonly unknown[] {
  const customs = fieldManager({ group: "a.io", version: "v1", kind: "A", schema: undefined });
  const config = (value: number): JsonObject => {
    const members = Object.fromEntries(many(count, (i) => [`m${i}`, value]));
    const spec = { ["n".repeat(nameLength)]: members };
    return { apiVersion: "a.io/v1", kind: "A", metadata: { name: "a", uid: "u" }, spec };
  };
  const live = customs.apply(undefined, config(1), { ...writing, force: false }).object;
  try {
    customs.apply(live, config(2), { ...writing, manager: "other", force: false });
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { message = "", details } = error.status;
    const isCut = message.endsWith(`\n${untoldText}`);
    return [message.split(":", 1)[0], details?.causes?.length, isCut];
  }
  return [];
}

/** Objects by any names: such as know no field, and such as are whole. */
const openMap: StructuralSchema = {
  type: "object",
  properties: {
    map: { type: "object", additionalProperties: { type: "object" } },
    inside: {
      type: "object",
      additionalProperties: { type: "object", "x-kubernetes-embedded-resource": true },
    },
  },
};

/** The errors that are kept of metadata. */
function metadataErrors(metadata: JsonObject): number {
  const options = { isNamespaced: false, nameRule: subdomainNames };
  return validateMetadata({ name: "x", ...metadata }, options).length;
}

const named =
  (name: string): ((index: number) => JsonObject) =>
  (index) => ({
    name: `${name}${index}`,
  });

const service = (spec: JsonObject): JsonObject => ({ metadata: { name: "s" }, spec });

/** Each case and what it gives. */
const cases: Readonly<Record<string, readonly [run: () => unknown, gives: unknown]>> = {
  "a strategic merge deletes many items": [
    () => {
      const deletions = many(80_000, (i) => ({ name: `a${i}`, $patch: "delete" }));
      return patched(many(200_000, named("a")), deletions, many(1, named("b")));
    },
    120_000,
  ],
  "a strategic merge adds many items beside a deletion": [
    () => {
      const added = many(150_000, named("b"));
      const patch = [{ name: "a0", $patch: "delete" }, ...added];
      return patched(many(200_000, named("a")), patch, added);
    },
    349_999,
  ],
  "a JSON patch adds in the middle": [
    () => {
      const list = patchedList(4_000_000, (i) => ({ op: "add", path: "/a/5", value: -1 - i }));
      return [list.length, list[4], list[5], list[10_004], list[10_005], list.at(-1)];
    },
    [4_010_000, 4, -10_000, -1, 5, 3_999_999],
  ],
  "a JSON patch removes, moves and looks in the middle": [
    () => {
      const list = patchedList(4_000_000, (i) => {
        if (i % 3 === 0) return { op: "remove", path: "/a/0" };
        if (i % 3 === 1) return { op: "test", path: "/a/0", value: (i - 1) / 3 + 1 };
        return { op: "move", from: "/a/-1", path: "/a/1000000" };
      });
      return [list.length, list[0], list[999_999]];
    },
    [3_996_666, 3_334, 3_996_667],
  ],
  "numbers are found among many": [
    () => {
      const items = { type: "integer", enum: many(400_000, (i) => i) } as const;
      const list = many(400_000, (i) => 399_999 - i);
      return validate({ type: "array", items }, list).length;
    },
    0,
  ],
  "numbers are missed among many": [
    () => {
      const items = { type: "integer", enum: many(400_000, (i) => i) } as const;
      const errors = validate(
        { type: "array", items },
        many(400_000, (i) => -1 - i),
      );
      return errors.length > 0 && tellFieldErrors(errors).text.endsWith(`${untoldText}]`);
    },
    true,
  ],
  "an object of many members is none of many texts": [
    () =>
      isRefused(
        alternatives(1_000, (i) => `a${i}`),
        wide(300_000),
      ),
    true,
  ],
  "an object with a long name is none of many objects": [
    () =>
      isRefused(
        alternatives(50_000, (i) => ({ a: i })),
        { ["n".repeat(3_000_000)]: 1 },
      ),
    true,
  ],
  "a long text is none of many": [
    () =>
      isRefused(
        alternatives(50_000, (i) => `a${i}`),
        "\n".repeat(1_500_000),
      ),
    true,
  ],
  "many items are none of some long texts": [
    () => {
      const allOf = many(6, (i) => ({ enum: ["a".repeat(16_000 - i)] }));
      const schema = { type: "array", items: { allOf } } as const;
      return isRefused(
        schema,
        many(1_000_000, () => 0),
      );
    },
    true,
  ],
  "a write keeps the times of many managers": [
    () => {
      const at = (time: string): JsonObject => ({
        metadata: {
          name: "a",
          managedFields: many(100_000, (i) => ({
            manager: `m${i}`,
            operation: "Apply",
            apiVersion: "v1",
            time,
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { [`f:${i}`]: {} } },
          })),
        },
      });
      const [old, next] = [at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z")];
      (next["metadata"] as { managedFields: Json[] }).managedFields.reverse();
      return jsonEqual(keepTimes(next, old), old);
    },
    true,
  ],
  "items that are applied twice are told": [
    () => {
      // What is wrong stands below a long name, which would be told with each of them.
      const name = "n".repeat(1_000_000);
      const ports = many(100_000, () => ({ containerPort: 1, protocol: "TCP" }));
      return messageOfApply([{ name, ports }]).length < 8_000_000;
    },
    true,
  ],
  "items that are no containers are told": [
    () =>
      messageOfApply(many(500_000, (i) => ({ name: `c${i}`, image: i })))
        .split("\n")
        .at(-1),
    `  ${untoldText}`,
  ],
  "a NetworkPolicy keeps its exceptions": [
    () => {
      const except = many(200_000, (i) => `${addressOf(i)}/32`);
      const ingress = [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except } }] }];
      return updateErrors("networking.k8s.io", "NetworkPolicy", {
        spec: { podSelector: {}, ingress },
      }).length;
    },
    0,
  ],
  "a Service keeps its addresses from outside": [
    () =>
      updateErrors(
        "",
        "Service",
        service({
          type: "ClusterIP",
          sessionAffinity: "None",
          internalTrafficPolicy: "Cluster",
          externalTrafficPolicy: "Cluster",
          ports: [{ port: 1, protocol: "TCP", targetPort: 1 }],
          externalIPs: many(200_000, addressOf),
        }),
      ).length,
    0,
  ],
  "a Service keeps its source ranges": [
    () =>
      updateErrors(
        "",
        "Service",
        service({
          type: "LoadBalancer",
          sessionAffinity: "None",
          internalTrafficPolicy: "Cluster",
          externalTrafficPolicy: "Cluster",
          allocateLoadBalancerNodePorts: true,
          ports: [{ port: 1, protocol: "TCP", targetPort: 1 }],
          loadBalancerSourceRanges: many(200_000, (i) => `${addressOf(i)}/32`),
        }),
      ).length,
    0,
  ],
  "a Service keeps the addresses of its balancer": [
    () =>
      statusErrors("", "Service", {
        ...service({ type: "LoadBalancer" }),
        status: {
          loadBalancer: { ingress: many(200_000, (i) => ({ ip: addressOf(i), ipMode: "VIP" })) },
        },
      }).length,
    0,
  ],
  "an Ingress keeps the addresses of its balancer": [
    () =>
      statusErrors("networking.k8s.io", "Ingress", {
        status: { loadBalancer: { ingress: many(200_000, (i) => ({ ip: addressOf(i) })) } },
      }).length,
    0,
  ],
  "a request for a certificate names many usages": [
    () => {
      const spec = { request: "", signerName: "a.io/b", usages: many(300_000, (i) => `u${i}`) };
      return (
        creationErrors("certificates.k8s.io", "CertificateSigningRequest", { spec }).length > 0
      );
    },
    true,
  ],
  "a request for a certificate has many conditions": [
    () => {
      const conditions = many(100_000, (i) => ({ type: `T${i}`, status: "True" }));
      const object = { spec: {}, status: { conditions } };
      const before = { spec: {}, status: { conditions: structuredClone(conditions) } };
      rulesOf({
        group: "certificates.k8s.io",
        kind: "CertificateSigningRequest",
      }).prepareForStatusUpdate?.(object, before, context);
      return object.status.conditions.length;
    },
    100_000,
  ],
  "a device is bound under many conditions": [
    () => {
      const bindingConditions = many(150_000, (i) => `c${i}`);
      const bindingFailureConditions = many(150_000, (i) => `f${i}`);
      const devices = [{ name: "d", bindingConditions, bindingFailureConditions }];
      const spec = { driver: "a.io", pool: { name: "p" }, nodeName: "n", devices };
      return creationErrors("resource.k8s.io", "ResourceSlice", { spec }).length > 0;
    },
    true,
  ],
  "a StatefulSet has many claims and many volumes": [
    () => {
      const labels = { a: "b" };
      const spec = {
        selector: { matchLabels: labels },
        volumeClaimTemplates: many(60_000, (i) => ({ metadata: { name: `c${i}` } })),
        template: {
          metadata: { labels },
          spec: { volumes: many(120_000, named("v")), containers: [] },
        },
      };
      return creationErrors("apps", "StatefulSet", { metadata: { name: "s" }, spec }).length > 0;
    },
    true,
  ],
  "a definition has many versions": [
    () => {
      const spec = {
        group: "a.io",
        names: { plural: "as", singular: "a", kind: "A", listKind: "AList" },
        scope: "Cluster",
        versions: many(60_000, (i) => ({
          name: `v${i}`,
          served: true,
          storage: i === 0,
          schema: { openAPIV3Schema: { type: "object" } },
          ...(i === 1 ? { subresources: { status: {} } } : {}),
          selectableFields: [{ jsonPath: `.a${i}` }],
        })),
      };
      const object = { metadata: { name: "as.a.io" }, spec };
      return updateErrors("apiextensions.k8s.io", "CustomResourceDefinition", object).length > 0;
    },
    true,
  ],
  "a definition changes many short names": [
    () => {
      const shortNames = many(300_000, (i) => `s${i}`);
      const names = (all: readonly string[]): JsonObject => ({
        plural: "as",
        kind: "A",
        shortNames: all,
      });
      const definition = {
        spec: { group: "a.io", names: names(shortNames.toReversed()) },
        status: { acceptedNames: names(shortNames) },
      };
      const { status } = acceptNames(definition, [], context.now);
      return jsonEqual((status as JsonObject)["acceptedNames"] ?? null, definition.spec.names);
    },
    true,
  ],
  "a definition has nothing but versions": [
    () => definitionIsTold({ versions: many(400_000, () => ({})) }),
    true,
  ],
  "a definition has many columns and short names": [
    () => {
      const additionalPrinterColumns = many(200_000, () => ({}));
      const names = { plural: "as", kind: "A", shortNames: many(200_000, () => "") };
      return definitionIsTold({ names, versions: [{ name: "v1", additionalPrinterColumns }] });
    },
    true,
  ],
  "a schema has many properties that are none": [
    () => definitionIsTold({ versions: [versionOf(objectOf(200_000, {}))] }),
    true,
  ],
  "a schema is deep: what stands at its bottom is not read for each above it": [
    () => {
      let reads = 0;
      const bottom = {
        type: "string",
        get $ref() {
          reads += 1;
          return undefined;
        },
      };
      validateSchema(deep(400, bottom as unknown as JsonObject), { path: "" });
      return reads > 0 && reads < 40;
    },
    true,
  ],
  "a schema is deep and wide, and wrong": [
    () => definitionIsTold({ versions: [versionOf(deep(100, objectOf(150_000, {})))] }),
    true,
  ],
  "a list has many items of the same keys": [
    () => {
      const schema = {
        type: "object",
        properties: {
          a: {
            type: "array",
            items: { type: "object", properties: { k: { type: "integer" } } },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
          },
        },
      } as const;
      const a = many(400_000, (i) => ({ k: i >> 1 }));
      return validateObject(schema, { a }).errors.length;
    },
    200_000,
  ],
  "what is being deleted keeps many finalizers": [
    () => {
      const finalizers = many(300_000, (i) => `a/${i}`);
      const metadata = { name: "a", resourceVersion: "1", deletionTimestamp: "x", finalizers };
      return validateMetadataUpdate(structuredClone(metadata), metadata).length;
    },
    0,
  ],
  "an object has many controllers": [
    () => {
      const ownerReferences = many(40_000, (i) => ({
        apiVersion: "v1",
        kind: "P",
        name: "n",
        uid: `u${i}`,
        controller: true,
      }));
      return metadataErrors({ ownerReferences });
    },
    2,
  ],
  "the name of a manager has nothing that can be printed": [
    () =>
      metadataErrors({
        managedFields: [{ operation: "Update", manager: "\u0080".repeat(1_000_000) }],
      }),
    toldErrorsMax + 1,
  ],
  "an object has many updaters": [
    () => {
      const object = mapOf(1, "a", managersOf(50_000, "Update"));
      return managersIn(maps.update(object, object, writing)).length;
    },
    10,
  ],
  "a write changes fields of many managers": [
    () => {
      const object = mapOf(150_000, "b", managersOf(20_000, "Apply"));
      return managersIn(maps.update(mapOf(150_000, "a"), object, writing)).length;
    },
    1,
  ],
  "a write removes fields of many managers": [
    () => {
      const object = mapOf(0, "b", managersOf(30_000, "Apply"));
      return managersIn(maps.update(mapOf(100_000, "a"), object, writing)).length;
    },
    0,
  ],
  "an applier gives up many fields beside many managers": [
    () => {
      const own = maps.apply(undefined, mapOf(100_000, "a"), { ...writing, force: true }).object;
      const object = mapOf(100_000, "a", [...managersIn(own), ...managersOf(40_000, "Apply")]);
      const { object: left } = maps.apply(object, mapOf(0, "a"), { ...writing, force: true });
      return Object.keys(left["data"] as JsonObject).length;
    },
    40_000,
  ],
  "an applier gives up a field beside many managers of which one owns what no apply writes": [
    () => {
      const odd = {
        ...managersOf(1, "Apply")[0],
        manager: "writer",
        fieldsV1: { "f:data": { "f:k0": {}, "f:k1": { "f:x": {} } } },
      };
      const object = mapOf(10, "a", [odd, ...managersOf(80_000, "Apply")]);
      const { object: left } = maps.apply(object, mapOf(0, "a"), { ...writing, force: true });
      return Object.keys(left["data"] as JsonObject).length;
    },
    10,
  ],
  "an apply meets many fields of another": [
    () => conflictTold(1, 100_000),
    ["Apply failed with 100000 conflicts", toldErrorsMax + 1, true],
  ],
  "an apply meets many fields of another below a long name": [
    () => conflictTold(1_000_000, 100_000),
    ["Apply failed with 100000 conflicts", 2, true],
  ],
  "an object has many unknown fields": [
    () => prepareObject(openMap, { map: { n: wide(300_000) } }).length,
    toldErrorsMax,
  ],
  "an object has many unknown fields below a long name": [
    () => prepareObject(openMap, { map: { ["n".repeat(1_000_000)]: wide(100_000) } }).length,
    1,
  ],
  "an object inside another has much unknown metadata below a long name": [
    () => {
      const inside = { apiVersion: "v1", kind: "A", metadata: wide(100_000) };
      return prepareObject(openMap, { inside: { ["n".repeat(1_000_000)]: inside } }).length;
    },
    1,
  ],
  "many items below a long name are none of two types": [
    () => {
      const items = { anyOf: [{ type: "string" }, { type: "boolean" }] } as const;
      const schema = { additionalProperties: { type: "array", items } } as const;
      const value = { ["n".repeat(1_000_000)]: many(200_000, (i) => i) };
      return validate(schema, value).length;
    },
    5,
  ],
  "PEM begins many blocks and ends none": [
    () => decodePem("-----BEGIN A-----\n".repeat(125_000)).block ?? "none",
    "none",
  ],
  "PEM ends many blocks that it does not begin": [
    () => decodePem("-----END A-----\n".repeat(140_000)).block ?? "none",
    "none",
  ],
  "a bundle begins many blocks of different types": [
    () => caBundleProblem(btoa(many(100_000, (i) => `-----BEGIN ${i}-----\n`).join(""))),
    "unable to load root certificates: unable to parse bytes as PEM block",
  ],
  "a bundle has many blocks that are no certificates": [
    () => caBundleProblem(btoa("-----BEGIN A-----\n-----END A-----\n".repeat(65_000))),
    "unable to load root certificates: no valid certificate authority data seen",
  ],
  "a key begins many blocks": [
    () => keyPairWarnings("-----BEGIN A-----\n".repeat(50_000), ""),
    ["tls: failed to find any PEM data in certificate input"],
  ],
};

/** Allows each of the values, in an alternative of its own. */
const alternatives = (count: number, value: (index: number) => Json): StructuralSchema => ({
  anyOf: many(count, (i) => ({ enum: [value(i)] })),
});

const wide = (count: number): MutableJsonObject =>
  Object.fromEntries(many(count, (i) => [`m${(i * 7_919) % count}`, i]));

const isRefused = (schema: StructuralSchema, value: Json): boolean =>
  validate(schema, value).length > 0;

const definitionSpec = {
  group: "a.io",
  names: { plural: "as", singular: "a", kind: "A", listKind: "AList" },
  scope: "Cluster",
};

const versionOf = (openAPIV3Schema: JsonObject): JsonObject => ({
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
});

function objectOf(count: number, property: JsonObject): JsonObject {
  const properties = Object.fromEntries(many(count, (i) => [`p${i}`, property]));
  return { type: "object", properties };
}

/** A schema below so many others. */
function deep(levels: number, bottom: JsonObject): JsonObject {
  let schema = bottom;
  for (let i = 0; i < levels; i++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

/** Whether a definition is refused with more errors than are told. */
function definitionIsTold(spec: JsonObject): boolean {
  const object = { metadata: { name: "as.a.io" }, spec: { ...definitionSpec, ...spec } };
  const rules = rulesOf({ group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" });
  const errors = rules.validate?.(object, context) ?? [];
  return tellFieldErrors(errors).text.endsWith(`${untoldText}]`);
}

const runs = Object.fromEntries(Object.entries(cases).map(([name, [run]]) => [name, run]));

if (!answerInThread(runs)) {
  suite("long lists take time in proportion", () => {
    const thread = threadOf(import.meta.url);
    after(() => thread[Symbol.asyncDispose]());
    for (const [name, [, gives]] of Object.entries(cases)) {
      test(name, async () => assert.deepEqual(await thread.ask(name), gives));
    }
  });
}
