import assert from "node:assert/strict";
import { test } from "node:test";

import type { Json, JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import type { StructuralSchema } from "../schema/structural.ts";
import { droppedFields, unusual } from "./given-up.ts";
import { fieldManager } from "./field-manager.ts";
import { encodeFieldsV1 } from "./fields-v1.ts";
import { managedFieldsOf, type ManagedSet } from "./managed-fields.ts";
import { mergeTypeOf } from "./merge-type.ts";
import { mergeTyped } from "./merge-typed.ts";
import { OwnedFields } from "./owned-fields.ts";
import { prune } from "./prune.ts";
import { storedFieldsOf } from "./stored-fields.ts";
import { systemFields } from "./system-fields.ts";
import { toFieldSet } from "./to-field-set.ts";
import { versionedKind } from "./versioned-kind.ts";

const text: StructuralSchema = { type: "string" };
const port: StructuralSchema = {
  type: "object",
  properties: { port: { type: "integer" }, protocol: { ...text, default: "TCP" }, note: text },
};
const item: StructuralSchema = {
  type: "object",
  properties: {
    name: text,
    value: text,
    inner: { type: "object", properties: { a: text, b: text } },
    free: { type: "object", additionalProperties: { type: "object", properties: { z: text } } },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: port,
    },
    tags: { type: "array", "x-kubernetes-list-type": "set", items: text },
  },
};
const schema: StructuralSchema = {
  type: "object",
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: "object" },
    spec: {
      type: "object",
      properties: {
        one: item,
        list: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: item,
        },
      },
    },
  },
};
const kind = versionedKind({ group: "a", version: "v1", kind: "K", schema });
const type = mergeTypeOf(schema);

const word = fc.constantFrom("x", "y");
const partial = (members: Record<string, fc.Arbitrary<Json>>, requiredKeys: string[] = []) =>
  fc.record(members, { requiredKeys }) as fc.Arbitrary<JsonObject>;
const members = {
  value: word,
  inner: partial({ a: word, b: word }),
  free: fc.dictionary(word, partial({ z: word }), { maxKeys: 2 }) as fc.Arbitrary<JsonObject>,
  ports: fc.uniqueArray(
    partial({ port: fc.constantFrom(1, 2), protocol: fc.constantFrom("TCP", "UDP"), note: word }, [
      "port",
    ]),
    {
      maxLength: 3,
      selector: ({ port: number, protocol = "TCP" }) => JSON.stringify([number, protocol]),
    },
  ),
  tags: fc.uniqueArray(word),
};
const config = partial({
  one: partial(members),
  list: fc.uniqueArray(partial({ ...members, name: word }, ["name"]), {
    selector: (value) => value["name"],
  }),
}).map(specOf);

function specOf(spec: JsonObject): JsonObject {
  return { apiVersion: "a/v1", kind: "K", spec };
}

test("what goes with the dropped paths is what goes by whole sets", () => {
  let pruned = 0;
  fc.assert(
    fc.property(
      config,
      config,
      config,
      fc.array(config, { maxLength: 2 }),
      (was, now, bare, rest) => {
        const all = [bare, was, ...rest, now];
        const merged = all.reduce((live, next) => mergeTyped(type, live, next) as JsonObject);
        const managed = (manager: string, owned: OwnedFields): ManagedSet => ({
          manager,
          operation: "Apply",
          apiVersion: "a/v1",
          subresource: "",
          time: undefined,
          owned,
        });
        const stored = (value: JsonObject): OwnedFields =>
          OwnedFields.trust(
            OwnedFields.of(toFieldSet(type, value).difference(systemFields)).stored,
          );
        const set = toFieldSet(type, now);
        const mine = managed("mine", OwnedFields.of(set));
        const last = managed("mine", stored(was));
        const others = rest.map((value, index) => managed(`other-${index}`, stored(value)));
        const managers = new Map([mine, ...others].map((entry) => [entry.manager, entry]));
        const dropped = droppedFields(type, last.owned.stored, mine.owned.stored);
        const input = { managers, mine, last };
        const expected = prune(kind, merged, { ...input, dropped: unusual });
        assert.deepEqual(prune(kind, merged, { ...input, dropped }), expected);
        if (expected !== merged) pruned += 1;
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(pruned > 100, `only ${pruned} gave something up`);
});

test("an applier owns just what it asks for now, whatever it asked for before", () => {
  const manager = fieldManager({ group: "a", version: "v1", kind: "K", schema });
  const options = { manager: "mine", force: true, now: "2026-01-01T00:00:00Z" };
  let kept = 0;
  fc.assert(
    fc.property(config, config, fc.array(config, { maxLength: 2 }), (was, now, rest) => {
      let live = manager.apply(undefined, was, options).object;
      for (const [index, other] of rest.entries()) {
        live = manager.apply(live, other, { ...options, manager: `other-${index}` }).object;
      }
      const { object } = manager.apply(live, now, options);
      const entries = (managedFieldsOf(object) ?? []) as readonly JsonObject[];
      const mine = entries.find((entry) => entry["manager"] === "mine");
      const wanted = encodeFieldsV1(toFieldSet(type, now).difference(systemFields));
      const found = mine?.["fieldsV1"] ?? {};
      // As text: what is stored has its keys in order.
      assert.equal(JSON.stringify(found), JSON.stringify(wanted));
      if (Object.keys(wanted).length > 0) kept += 1;
    }),
    {
      numRuns: 500,
      examples: [[specOf({ one: { inner: {} } }), specOf({ one: { inner: { a: "x" } } }), []]],
    },
  );
  assert.ok(kept > 100, `only ${kept} asked for something`);
});

test("the stored set is the same whether it is made anew or along the last one, and is that one if it can be", () => {
  const nothing = { names: new Set<string>(), inside: new Map() };
  const map = type.map ?? assert.fail("an object is a map");
  fc.assert(
    fc.property(config, config, (was, now) => {
      const last = encodeFieldsV1(toFieldSet(type, was));
      const wanted = encodeFieldsV1(toFieldSet(type, now));
      const found = storedFieldsOf(map, now, last, nothing);
      assert.equal(JSON.stringify(found), JSON.stringify(wanted));
      assert.equal(storedFieldsOf(map, now, found, nothing), found);
    }),
    { numRuns: 500 },
  );
});
