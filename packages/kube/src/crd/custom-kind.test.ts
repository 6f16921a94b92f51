import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { defaultPrinterColumns } from "../table/custom-columns.ts";
import { convertByName, kindOfDefinition, servedKinds, storageVersionOf } from "./custom-kind.ts";
import { compareVersions } from "./versions.ts";

const definition: JsonObject = {
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", nullable: false } },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size", priority: 1 },
        ],
        selectableFields: [{ jsonPath: ".spec.size" }],
      },
      { name: "v2beta1", served: true, storage: false, deprecated: true },
      { name: "v3alpha1", served: false, storage: false },
      {
        name: "v1alpha1",
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: "no more",
      },
    ],
  },
};

test("a kind is what its definition says at a version", () => {
  assert.deepEqual(kindOfDefinition(definition, "v1"), {
    group: "example.com",
    version: "v1",
    kind: "Thing",
    listKind: "ThingList",
    plural: "things",
    singular: "thing",
    shortNames: [],
    categories: [],
    isNamespaced: true,
    isServed: true,
    isStorage: true,
    schema: { type: "object" },
    preservesUnknownFields: false,
    hasStatus: true,
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: undefined,
    },
    columns: [
      {
        name: "Size",
        type: "integer",
        jsonPath: ".spec.size",
        format: "",
        description: "",
        priority: 1,
      },
    ],
    selectableFields: ["spec.size"],
    deprecationWarning: undefined,
  });
  assert.equal(kindOfDefinition(definition, "v9"), undefined);
});

test("a version that says little has no schema, no subresources and the usual columns", () => {
  const { schema, hasStatus, scale, columns } = kindOfDefinition(definition, "v3alpha1") ?? {};
  assert.deepEqual(
    [schema, hasStatus, scale, columns],
    [undefined, false, undefined, defaultPrinterColumns],
  );
});

test("names that were accepted come before those that are asked for", () => {
  const status = { acceptedNames: { plural: "things", kind: "Thing", shortNames: ["t"] } };
  assert.deepEqual(kindOfDefinition({ ...definition, status }, "v1")?.shortNames, ["t"]);
});

test("clients of a deprecated version are told so, and what to use", () => {
  const warnings = ["v1", "v2beta1", "v3alpha1", "v1alpha1"].map(
    (version) => kindOfDefinition(definition, version)?.deprecationWarning,
  );
  assert.deepEqual(warnings, [
    undefined,
    "example.com/v2beta1 Thing is deprecated; use example.com/v1 Thing",
    undefined,
    "no more",
  ]);
});

test("versions are served best first, and one is stored", () => {
  assert.deepEqual(
    servedKinds(definition).map(({ version }) => version),
    ["v1", "v2beta1", "v1alpha1"],
  );
  assert.equal(storageVersionOf(definition), "v1");
});

test("versions have their order", () => {
  const sorted = ["v1alpha1", "foo1", "v10", "v1", "v2beta1", "v11beta2", "foo10", "v2"].toSorted(
    (a, b) => compareVersions(b, a),
  );
  assert.deepEqual(sorted, ["v10", "v2", "v1", "v11beta2", "v2beta1", "v1alpha1", "foo1", "foo10"]);
});

test("long numbers of versions are compared exactly, and longer ones are none", () => {
  const [less, more] = ["v9007199254740992", "v9007199254740993"];
  assert.ok(compareVersions(more, less) > 0);
  assert.ok(compareVersions(`v1beta${more.slice(1)}`, `v1beta${less.slice(1)}`) > 0);
  assert.ok(compareVersions("v1alpha1", "v9223372036854775808") > 0);
});

test("without a webhook only the name of the version changes", () => {
  const object: JsonObject = { apiVersion: "example.com/v1", kind: "Thing", spec: { a: 1 } };
  assert.deepEqual(convertByName(object, { group: "example.com", version: "v2beta1" }), {
    ...object,
    apiVersion: "example.com/v2beta1",
  });
  assert.equal(convertByName(object, { group: "example.com", version: "v1" }), object);
});
