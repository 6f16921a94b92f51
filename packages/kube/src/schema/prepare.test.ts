import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { readJson, type Json, type MutableJsonObject } from "@keelson/base";
import { applyDefaults, dropNulls } from "./default.ts";
import { EmbeddedInvalid, validateEmbedded } from "./embedded.ts";
import { printFieldError } from "../status/field-error.ts";
import { validateListTypes } from "./list-types.ts";
import { prepareObject } from "./prepare.ts";
import { prune } from "./prune.ts";
import type { StructuralSchema } from "./structural.ts";

suite("defaults", () => {
  test("fill what is absent, and null where it may not be", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: {
        a: { type: "string", default: "x" },
        b: { type: "string", default: "y", nullable: true },
        c: { type: "object", default: {}, properties: { d: { type: "integer", default: 1 } } },
        l: { type: "array", items: { type: "string", default: "z" } },
      },
    };
    const value: MutableJsonObject = { a: null, b: null, l: [null, "q"] };
    applyDefaults(value, schema);
    assert.deepEqual(value, { a: "x", b: null, c: { d: 1 }, l: ["z", "q"] });
  });

  test("are copies, so that one object cannot change another's", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: { c: { type: "object", default: { d: [1] } } },
    };
    const first: MutableJsonObject = {};
    applyDefaults(first, schema);
    (first["c"] as MutableJsonObject)["d"] = 2;
    const second: MutableJsonObject = {};
    applyDefaults(second, schema);
    assert.deepEqual(second, { c: { d: [1] } });
  });

  test("null goes where it may not be and has no default", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string", nullable: true },
        c: { type: "string", default: "x" },
      },
    };
    const value: MutableJsonObject = { a: null, b: null, c: null, d: null };
    dropNulls(value, schema);
    assert.deepEqual(value, { b: null, c: null, d: null });
  });
});

suite("pruning", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {
      a: { type: "object", properties: { b: { type: "string" } } },
      l: { type: "array", items: { type: "object", properties: { b: { type: "string" } } } },
      open: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { a: { type: "object", properties: { b: { type: "string" } } } },
      },
      map: { type: "object", additionalProperties: { type: "object", properties: {} } },
      embedded: { type: "object", "x-kubernetes-embedded-resource": true, properties: {} },
    },
  };

  test("removes what is not named and says where it was", () => {
    const value: MutableJsonObject = {
      apiVersion: "v1",
      kind: "A",
      metadata: { name: "a", any: 1 },
      x: 1,
      a: { b: "c", y: 2 },
      l: [{ b: "c" }, { z: 1 }],
      open: { any: { thing: 1 }, a: { b: "x", c: 1 } },
      map: { k: { q: 1 } },
      embedded: { apiVersion: "v1", kind: "B", metadata: {}, q: 1 },
    };
    const unknown = prune(value, schema, { isObject: true });
    assert.deepEqual(unknown, ["a.y", "embedded.q", "l[1].z", "map.k.q", "open.a.c", "x"]);
    assert.deepEqual(value, {
      apiVersion: "v1",
      kind: "A",
      metadata: { name: "a", any: 1 },
      a: { b: "c" },
      l: [{ b: "c" }, {}],
      open: { any: { thing: 1 }, a: { b: "x" } },
      map: { k: {} },
      embedded: { apiVersion: "v1", kind: "B", metadata: {} },
    });
  });

  test("an own __proto__ is a field like any other", () => {
    const value = readJson('{"__proto__":{"x":1},"a":{}}') as MutableJsonObject;
    assert.deepEqual(prune(value, schema), ["__proto__"]);
    assert.deepEqual(Object.keys(value), ["a"]);
    assert.equal(({} as Record<string, Json>)["x"], undefined);
  });
});

suite("list types", () => {
  const listOf = (extensions: StructuralSchema): StructuralSchema => ({
    type: "object",
    properties: { l: { type: "array", ...extensions } },
  });
  const cases: readonly [name: string, schema: StructuralSchema, list: Json[], errors: string[]][] =
    [
      [
        "a set",
        { "x-kubernetes-list-type": "set" },
        ["a", "b", "a", "a"],
        ['l[2]: Duplicate value: "a"'],
      ],
      [
        "a list-map of one key",
        { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] },
        [{ k: "a" }, { k: "a", v: 1 }, {}, {}],
        ['l[1]: Duplicate value: {"k":"a"}', "l[3]: Duplicate value: {}"],
      ],
      [
        "a list-map of two keys",
        { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"] },
        [
          { k: "a", p: 1 },
          { k: "a", p: 2 },
          { p: 1, k: "a" },
        ],
        ['l[2]: Duplicate value: {"k":"a","p":1}'],
      ],
      ["an atomic list", { "x-kubernetes-list-type": "atomic" }, [1, 1], []],
    ];
  for (const [name, extensions, list, errors] of cases) {
    test(`finds what is there again in ${name}`, () => {
      const found = validateListTypes(listOf(extensions), { l: list });
      assert.deepEqual(found.map(printFieldError), errors);
    });
  }
});

suite("embedded objects", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {
      e: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  };

  test("have a type and valid metadata", () => {
    const value = { e: { apiVersion: "a/b/c", metadata: { name: "a/b" } } };
    assert.deepEqual(validateEmbedded(schema, value).map(printFieldError), [
      "e.kind: Required value",
      'e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      "e.metadata.name: Invalid value: \"a/b\": may not contain '/'",
    ]);
  });

  test("lose unknown metadata, which is reported", () => {
    const value: MutableJsonObject = {
      e: { apiVersion: "v1", kind: "A", metadata: { name: "a", x: 1, labels: {} } },
    };
    assert.deepEqual(prepareObject(schema, value), ["e.metadata.x"]);
    assert.deepEqual(value, { e: { apiVersion: "v1", kind: "A", metadata: { name: "a" } } });
  });

  test("with metadata of the wrong type are refused", () => {
    const value: MutableJsonObject = { e: { apiVersion: "v1", kind: "A", metadata: { name: 1 } } };
    assert.throws(
      () => prepareObject(schema, value),
      (error) => {
        assert.ok(error instanceof EmbeddedInvalid);
        assert.equal(error.code, "EMBEDDED_INVALID");
        const detail =
          "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string";
        assert.equal(error.error.detail, detail);
        return true;
      },
    );
  });
});
