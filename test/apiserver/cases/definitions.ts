// Custom resource definitions and their objects: KB 67 to 72.

import type { Json, JsonObject } from "@keelson/base";

import { isEstablished } from "../../oracle/is-established.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import { definition, secret } from "../objects.ts";
import { createKind, served } from "./custom-kinds.ts";

import { groupOf, object, path, thing } from "./things.ts";

const scripts: Record<string, Script> = {
  "its life": async (lab) => {
    const crd = definition({ group: groupOf(lab), kind: "Thing" });
    const name = `things.${groupOf(lab)}`;
    await lab.post(path, crd);
    await lab.until(`${path}/${name}`, ({ body }) => isEstablished(body));
    await served(lab, crd);
    await lab.post(path, crd);
    const things = lab.group(`${groupOf(lab)}/v1`, "things");
    await lab.post(things, object(lab, "a", { any: { thing: [1] } }));
    await lab.delete(`${path}/${name}`);
    await lab.until(`${path}/${name}`, ({ status }) => status === 404);
    await lab.until(things, ({ status }) => status === 404);
  },
  "its objects are deleted first": async (lab) => {
    await createKind(lab, definition({ group: groupOf(lab), kind: "Thing" }));
    const things = lab.group(`${groupOf(lab)}/v1`, "things");
    await lab.create(things, {
      ...object(lab, "held"),
      metadata: { name: "held", finalizers: ["example.com/a"] },
    });
    await lab.must({ method: "DELETE", path: `${path}/things.${groupOf(lab)}` });
    await lab.until(`${things}/held`, ({ text }) => text.includes("deletionTimestamp"));
    await lab.post(things, object(lab, "late")).then(() => lab.observations.pop());
    await lab.mustPatch(`${things}/held`, { metadata: { finalizers: null } });
    await lab.until(`${path}/things.${groupOf(lab)}`, ({ status }) => status === 404);
  },
  ...casesFor(
    {
      "a name that does not fit": (crd: JsonObject) => ({
        ...crd,
        metadata: { name: "wrong.example.com" },
      }),
      "no group": (crd: JsonObject) => withSpec(crd, { group: "" }),
      "a scope": (crd: JsonObject) => withSpec(crd, { scope: "Galaxy" }),
      "no versions": (crd: JsonObject) => withSpec(crd, { versions: [] }),
      "no storage": (crd: JsonObject) => withVersion(crd, { storage: false }),
      "no schema": (crd: JsonObject) => withVersion(crd, { schema: null }),
      "a bad version name": (crd: JsonObject) => withVersion(crd, { name: "V1!" }),
      "a schema without type": (crd: JsonObject) => withSchema(crd, { properties: { spec: {} } }),
      "a schema with an unknown type": (crd: JsonObject) =>
        withSchema(crd, { type: "object", properties: { spec: { type: "thing" } } }),
      "forbidden fields": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: { spec: { type: "object", uniqueItems: true } },
        }),
      "a reference": (crd: JsonObject) =>
        withSchema(crd, { type: "object", properties: { spec: { $ref: "#/x" } } }),
      "metadata with rules": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
        }),
      "a default that does not fit": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: {
            spec: { type: "object", properties: { n: { type: "integer", default: "x" } } },
          },
        }),
      "a bad pattern": (crd: JsonObject) =>
        withSchema(crd, { type: "object", properties: { spec: { type: "string", pattern: "[" } } }),
      "a list map without keys": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: {
            spec: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } },
          },
        }),
      "a rule that does not compile": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { n: { type: "integer" } },
              "x-kubernetes-validations": [{ rule: "self.zzz > 1" }],
            },
          },
        }),
      "a rule that is no boolean": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { n: { type: "integer" } },
              "x-kubernetes-validations": [{ rule: "self.n" }],
            },
          },
        }),
      "an empty rule": (crd: JsonObject) =>
        withSchema(crd, {
          type: "object",
          properties: { spec: { type: "object", "x-kubernetes-validations": [{ rule: "" }] } },
        }),
      "a column without path": (crd: JsonObject) =>
        withVersion(crd, { additionalPrinterColumns: [{ name: "A", type: "string" }] }),
      "a column of a strange type": (crd: JsonObject) =>
        withVersion(crd, {
          additionalPrinterColumns: [{ name: "A", type: "strange", jsonPath: ".x" }],
        }),
      "a scale without paths": (crd: JsonObject) =>
        withVersion(crd, { subresources: { scale: {} } }),
      "webhook conversion without a webhook": (crd: JsonObject) =>
        withSpec(crd, { conversion: { strategy: "Webhook" } }),
      "a kind in small letters": (crd: JsonObject) =>
        withSpec(crd, {
          names: { plural: "things", singular: "thing", kind: "thing_", listKind: "ThingList" },
        }),
      "only what is needed": (crd: JsonObject) =>
        withSpec(crd, { names: { plural: "things", kind: "Thing" } }),
      "unknown fields kept in the old way": (crd: JsonObject) =>
        withSpec(crd, { preserveUnknownFields: true }),
      "a k8s.io group": (crd: JsonObject) => ({
        ...withSpec(crd, { group: "x.k8s.io" }),
        metadata: { name: "things.x.k8s.io" },
      }),
      "a selectable field that is none": (crd: JsonObject) =>
        withVersion(crd, { selectableFields: [{ jsonPath: ".spec.nothing" }] }),
    },
    "refused or not: %",
    async (lab, change) => {
      await lab.post(
        `${path}?dryRun=All`,
        change(
          definition({
            group: groupOf(lab),
            kind: "Thing",
            schema: {
              type: "object",
              properties: {
                spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              },
            },
          }),
        ),
      );
    },
  ),
  "two of one name": async (lab) => {
    await createKind(lab, definition({ group: groupOf(lab), kind: "Thing" }));
    const second = withSpec(definition({ group: groupOf(lab), kind: "Other" }), {
      names: { plural: "others", singular: "thing", kind: "Thing", listKind: "OtherList" },
    });
    await lab.post(path, second);
    await lab.until(`${path}/others.${groupOf(lab)}`, ({ text }) => text.includes("NamesAccepted"));
  },
  "several versions": async (lab) => {
    const open = {
      openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    };
    const versions = [
      { name: "v1", served: true, storage: false, schema: open },
      { name: "v1beta1", served: true, storage: true, deprecated: true, schema: open },
      {
        name: "v1alpha1",
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'nicht "mögen" 日本',
        schema: open,
      },
      { name: "v0", served: false, storage: false, schema: open },
    ];
    await createKind(lab, definition({ group: groupOf(lab), kind: "Thing", spec: { versions } }));
    const at = (version: string): string => lab.group(`${groupOf(lab)}/${version}`, "things");
    await lab.post(at("v1"), object(lab, "a", { x: 1 }));
    await lab.get(`${at("v1beta1")}/a`);
    await lab.get(`${at("v1alpha1")}/a`);
    await lab.get(at("v1alpha1"));
    await lab.get(`${at("v0")}/a`);
    await lab.patch("merge", `${at("v1alpha1")}/a`, { x: 2 });
    await lab.patch("apply", `${at("v1")}/a?fieldManager=m`, object(lab, "a", { y: 2 }));
    await lab.post(at("v1"), { ...object(lab, "b"), apiVersion: `${groupOf(lab)}/v1beta1` });
    const told = ["v1", "v1beta1", "v1alpha1"].map((version) => `"${groupOf(lab)}/${version}"`);
    await lab.until(`/apis/${groupOf(lab)}`, ({ text }) => told.every((one) => text.includes(one)));
    await lab.until(`/apis/${groupOf(lab)}/v1beta1`, ({ status }) => status === 200);
    const { body } = await lab.quietly({ path: `${path}/things.${groupOf(lab)}` });
    lab.note("stored", (body as { status: { storedVersions: Json } }).status.storedVersions);
  },
  "at the cluster's level": async (lab) => {
    await createKind(lab, definition({ group: groupOf(lab), kind: "Thing", scope: "Cluster" }));
    const things = `/apis/${groupOf(lab)}/v1/things`;
    await lab.post(things, object(lab, "a", { x: 1 }));
    await lab.get(`${things}/a`);
    await lab.get(lab.group(`${groupOf(lab)}/v1`, "things"));
    await lab.post(things, { ...object(lab, "b"), metadata: { name: "b", namespace: "x" } });
    await lab.delete(`${things}/a`);
  },
  "bad objects": async (lab) => {
    const things = await thing(lab, { type: "object", properties: { n: { type: "integer" } } });
    await lab.post(things, { ...object(lab, "a"), kind: "Other" });
    await lab.post(things, { ...object(lab, "a"), apiVersion: "other/v1" });
    await lab.post(things, { metadata: { name: "a" } });
    await lab.post(things, object(lab, "Not Good"));
    await lab.post(things, { ...object(lab, "x"), metadata: "x" });
    await lab.post(things, { ...object(lab, "x"), metadata: { name: "x", labels: { a: 1 } } });
    await lab.post(things, {
      ...object(lab, "x"),
      metadata: { name: "x", finalizers: ["bad one"] },
    });
    await lab.post(things, object(lab, "x", { spec: [] }));
    await lab.post(things, "{");
    await lab.post(things, "[]");
    await lab.post(things, secret("x"));
    await lab.post(
      things,
      object(lab, "big", { spec: { n: 9_007_199_254_740_993n as unknown as Json } }),
    );
    await lab.put(`${things}/none`, object(lab, "none"));
    await lab.post(things, object(lab, "here"));
    await lab.put(`${things}/here`, object(lab, "here", { spec: { n: 1 } }));
    await lab.post(things, "apiVersion: x\nkind: Thing\n", {
      headers: { "content-type": "application/yaml" },
    });
  },
  "selectable fields": async (lab) => {
    const things = await thing(
      lab,
      {
        type: "object",
        properties: { color: { type: "string" }, n: { type: "integer" }, on: { type: "boolean" } },
      },
      {
        selectableFields: [
          { jsonPath: ".spec.color" },
          { jsonPath: ".spec.n" },
          { jsonPath: ".spec.on" },
        ],
      },
    );
    await lab.create(things, object(lab, "a", { spec: { color: "red", n: 1, on: true } }));
    await lab.create(things, object(lab, "b", { spec: { color: "blue", n: 2 } }));
    await lab.create(things, object(lab, "c"));
    for (const selector of [
      "spec.color=red",
      "spec.color!=red",
      "spec.n=2",
      "spec.on=true",
      "spec.color=",
      "spec.other=1",
      "spec.color=red,spec.n=1",
    ])
      await lab.get(`${things}?fieldSelector=${encodeURIComponent(selector)}`);
    await lab.delete(`${things}?fieldSelector=spec.color%3Dred`);
    await lab.get(things);
  },
  "status written by hand": async (lab) => {
    await createKind(lab, definition({ group: groupOf(lab), kind: "Thing" }));
    const at = `${path}/things.${groupOf(lab)}`;
    await lab
      .patch("merge", `${at}/status`, { status: { conditions: [{ type: "", status: "" }] } })
      .then(() => lab.observations.pop());
    await lab.put(at, definition({ group: groupOf(lab), kind: "Thing" }));
    await lab.patch("merge", at, { spec: { scope: "Cluster" } });
    await lab.patch("merge", at, { spec: { group: "other.example.com" } });
  },
};

function withSpec(crd: JsonObject, spec: JsonObject): JsonObject {
  return { ...crd, spec: { ...(crd["spec"] as JsonObject), ...spec } };
}

function withVersion(crd: JsonObject, change: JsonObject): JsonObject {
  const [version] = (crd["spec"] as { versions: JsonObject[] }).versions;
  return withSpec(crd, { versions: [{ ...version, ...change }] });
}

function withSchema(crd: JsonObject, openAPIV3Schema: JsonObject): JsonObject {
  return withVersion(crd, { schema: { openAPIV3Schema } });
}

export const definitionCases = casesOf("definitions", scripts);
