import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { cloneJson, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { customResources } from "./custom-resource.ts";
import { TypedDecodeError } from "@keelson/kube";

const context = { now: "2026-01-01T00:00:00Z", uuid: () => "00000000-0000-0000-0000-000000000000" };

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", default: 1 },
        color: { type: "string", enum: ["red", "green"] },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
      "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too big" }],
    },
    status: { type: "object", properties: { replicas: { type: "integer" } } },
  },
} as const;

const names = {
  plural: "widgets",
  singular: "widget",
  kind: "Widget",
  listKind: "WidgetList",
  shortNames: ["wd"],
};

function definition(generation: number): JsonObject {
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com", generation },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [
        { name: "v1alpha1", served: false, storage: false, schema: { openAPIV3Schema: schema } },
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {}, scale },
          selectableFields: [{ jsonPath: ".spec.color" }],
        },
        {
          name: "v1beta1",
          served: true,
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: { type: "object" } },
        },
      ],
    },
    status: { acceptedNames: names, conditions: [{ type: "Established", status: "True" }] },
  };
}

const [v1, v1beta1, ...rest] = customResources(definition(1));
assert.ok(v1 !== undefined && v1beta1 !== undefined);

function widget(spec: JsonObject, more: JsonObject = {}): MutableJsonObject {
  return cloneJson({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "a", namespace: "b" },
    spec,
    ...more,
  });
}

suite("custom resources", () => {
  test("a definition gives a resource for each served version, the preferred first", () => {
    assert.deepEqual(
      [v1, v1beta1, ...rest].map((resource) => ({
        version: resource?.version,
        subresources: resource?.subresources.map(({ name }) => name),
        fieldLabels: resource?.fieldLabels,
        storage: resource?.storage,
        hash: resource?.storageVersionHash,
        deprecation: resource?.deprecation,
      })),
      [
        {
          version: "v1",
          subresources: ["status", "scale"],
          fieldLabels: ["spec.color"],
          storage: { kind: "Widget.example.com", apiVersion: "example.com/v1" },
          hash: v1.storageVersionHash,
          deprecation: undefined,
        },
        {
          version: "v1beta1",
          subresources: [],
          fieldLabels: [],
          storage: { kind: "Widget.example.com", apiVersion: "example.com/v1" },
          hash: v1.storageVersionHash,
          deprecation: "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget",
        },
      ],
    );
    assert.deepEqual(v1.subresources[1]?.scale, {
      specReplicasPath: "spec.size",
      statusReplicasPath: "status.replicas",
      labelSelectorPath: undefined,
    });
  });

  test("a body is defaulted, and what its kind does not have is dropped and named", () => {
    const body = widget(
      { x: 1, template: { kind: "A", apiVersion: "v1", metadata: { name: "t", y: 2 } } },
      { metadata: { name: "a", labels: null, z: 3 } },
    );
    assert.deepEqual(v1.model.read(body, context), {
      object: widget(
        { size: 1, template: { kind: "A", apiVersion: "v1", metadata: { name: "t" } } },
        { metadata: { name: "a" } },
      ),
      problems: [
        'unknown field "metadata.z"',
        'unknown field "spec.x"',
        'unknown field "spec.template.metadata.y"',
      ],
    });
  });

  test("metadata of a wrong type cannot be read", () => {
    assert.throws(
      () => v1.model.read(widget({}, { metadata: { labels: "x" } }), context),
      new TypedDecodeError(
        "json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string",
      ),
    );
  });

  test("an object of another version is stored and shown under the right one", () => {
    const stored = v1beta1.model.toStored(
      widget({ size: 1 }, { apiVersion: "example.com/v1beta1" }),
    );
    assert.equal(stored["apiVersion"], "example.com/v1");
    // The version has no schema to speak of: what it does not name is pruned.
    assert.deepEqual(v1beta1.model.fromStored(stored), {
      apiVersion: "example.com/v1beta1",
      kind: "Widget",
      metadata: { name: "a", namespace: "b" },
    });
    assert.equal(v1beta1.model.readsAsStored, false);
  });

  test("what a definition says later counts for what is stored already", () => {
    const stored = widget({ gone: true });
    assert.equal(v1.model.readsAsStored, true);
    assert.equal(v1.model.fromStored(stored), stored);
    const [changed] = customResources(definition(2));
    assert.equal(changed?.model.readsAsStored, false);
    assert.deepEqual(changed?.model.fromStored(stored), widget({ size: 1 }));
    assert.deepEqual(stored, widget({ gone: true }));
  });

  test("schema, scale and rules are all asked, and what has not changed passes with a warning", () => {
    const bad = widget({ size: 12, color: "blue" });
    const fields = (object: JsonObject, old?: JsonObject): string[] =>
      (old === undefined
        ? v1.model.validate(object, context)
        : v1.model.validateUpdate(object, old, context)
      ).map(({ field, type }) => `${field} ${type}`);
    assert.deepEqual(fields(bad), ["spec.color FieldValueNotSupported", "<nil> FieldValueInvalid"]);
    assert.deepEqual(fields(widget({ size: 12 })), ["spec FieldValueInvalid"]);
    assert.deepEqual(fields(widget({ size: -1 })), [".spec.size FieldValueInvalid"]);
    const unchanged = widget({ size: 12 }, { status: {} });
    assert.deepEqual(fields(unchanged, widget({ size: 12 })), []);
    assert.deepEqual(v1.model.warnings(unchanged, widget({ size: 12 })), [
      "spec: Invalid value: too big",
    ]);
  });

  test("a write of the status is judged by the status", () => {
    const old = widget({ size: 1, color: "blue" }, { status: { replicas: 1 } });
    const next = widget({ size: 1, color: "blue" }, { status: { replicas: "x" } });
    const errors = v1.model.subresource("status").validateUpdate(next, old, context);
    assert.deepEqual(
      errors.map(({ field }) => field),
      ["status.replicas", ".status.replicas", "<nil>"],
    );
  });

  test("finalizers without a domain are warned of", () => {
    const metadata = { name: "a", finalizers: ["mine", "example.com/x", "orphan", "a.b"] };
    assert.deepEqual(v1.model.warnings(widget({}, { metadata }), undefined), [
      'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
  });

  test("the object and its status are owned apart", () => {
    const apply = (subresource: string) =>
      v1.model
        .fieldManager(subresource)
        .apply(widget({}), widget({ size: 2 }, { status: { replicas: 1 } }), {
          manager: "m",
          now: context.now,
          force: true,
        }).object["metadata"] as { managedFields: { manager: string; fieldsV1: unknown }[] };
    const owned = (subresource: string): unknown =>
      apply(subresource).managedFields.find(({ manager }) => manager === "m")?.fieldsV1;
    assert.deepEqual(owned(""), { "f:spec": { "f:size": {} } });
    assert.deepEqual(owned("status"), { "f:status": { "f:replicas": {} } });
  });
});
