// What a schema makes of the objects of a custom kind: defaults, pruning, refusals. KB 68, 71.

import { until } from "../../tools/until.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import { definition } from "../objects.ts";
import { groupOf, object, path, thing } from "./things.ts";

const scripts: Record<string, Script> = {
  "defaults and pruning": async (lab) => {
    const things = await thing(lab, {
      type: "object",
      properties: {
        a: { type: "string", default: "given" },
        nested: {
          type: "object",
          default: {},
          properties: { b: { type: "integer", default: 5 }, c: { type: "string" } },
        },
        list: {
          type: "array",
          items: { type: "object", properties: { d: { type: "string", default: "x" } } },
        },
        map: {
          type: "object",
          additionalProperties: {
            type: "object",
            properties: { e: { type: "boolean", default: true } },
          },
        },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: { f: { type: "string" } } } },
        },
        either: { "x-kubernetes-int-or-string": true },
        perhaps: { type: "string", nullable: true, default: "d" },
      },
    });
    await lab.post(things, object(lab, "a"));
    await lab.post(things, object(lab, "b", { spec: {} }));
    await lab.post(
      things,
      object(lab, "c", {
        spec: {
          unknown: 1,
          nested: { unknown: 2 },
          list: [{}, { d: "y", z: 1 }],
          map: { k: {} },
          free: { any: 1, known: { f: "1", g: 2 } },
          either: 5,
          perhaps: null,
          a: null,
        },
      }),
    );
    await lab.post(things, object(lab, "d", { spec: { either: "x" }, top: 1 }));
    await lab.patch("merge", `${things}/d`, { spec: { nested: { b: null } } });
    await lab.put(`${things}/d`, object(lab, "d"));
    await lab.get(`${things}/c`);
  },
  ...casesFor(
    {
      "a string too short": { type: "string", minLength: 3, value: "a" },
      "a string too long": { type: "string", maxLength: 1, value: "abc" },
      "a pattern": { type: "string", pattern: "^a+$", value: "b" },
      "an enum": { type: "string", enum: ["a", "b"], value: "c" },
      "a number too small": { type: "integer", minimum: 3, value: 1 },
      "a number too large": { type: "number", maximum: 3, exclusiveMaximum: true, value: 3 },
      "no multiple": { type: "integer", multipleOf: 2, value: 3 },
      "a wrong type": { type: "integer", value: "x" },
      "a float for an integer": { type: "integer", value: 1.5 },
      "an integral float": { type: "integer", value: 2 },
      "a boolean": { type: "boolean", value: "true" },
      "too few": { type: "array", items: { type: "string" }, minItems: 2, value: ["a"] },
      "too many": { type: "array", items: { type: "string" }, maxItems: 1, value: ["a", "b"] },
      "no set": {
        type: "array",
        items: { type: "string" },
        "x-kubernetes-list-type": "set",
        value: ["a", "a"],
      },
      "a key twice": {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
        value: [{ k: "a" }, { k: "a" }],
      },
      "something missing": {
        type: "object",
        required: ["x", "y"],
        properties: { x: { type: "string" }, y: { type: "string" } },
        value: {},
      },
      null: { type: "string", value: null },
      nullable: { type: "string", nullable: true, value: null },
      "a date": { type: "string", format: "date-time", value: "x" },
      "an address": { type: "string", format: "ipv4", value: "1.2.3" },
      "a duration": { type: "string", format: "duration", value: "5x" },
      bytes: { type: "string", format: "byte", value: "%%" },
      "one of": {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
        value: { a: "1", b: "2" },
      },
      not: {
        type: "object",
        properties: { a: { type: "string" } },
        not: { required: ["a"] },
        value: { a: "1" },
      },
      "int or string": { "x-kubernetes-int-or-string": true, value: true },
      "an embedded object": {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
        value: { kind: "Pod" },
      },
      "many properties": {
        type: "object",
        additionalProperties: { type: "string" },
        maxProperties: 1,
        value: { a: "1", b: "2" },
      },
      "a large integer": { type: "integer", format: "int32", value: 3_000_000_000 },
    },
    "values: %",
    async (lab, { value, ...schema }) => {
      const things = await thing(lab, { type: "object", properties: { v: schema } });
      await lab.post(things, object(lab, "a", { spec: { v: value ?? null } }));
      await lab.post(
        `${things}?fieldValidation=Strict`,
        object(lab, "b", { spec: { v: value ?? null } }),
      );
    },
  ),
  rules: async (lab) => {
    const things = await thing(lab, {
      type: "object",
      properties: {
        low: { type: "integer" },
        high: { type: "integer" },
        name: {
          type: "string",
          maxLength: 20,
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "name stays" }],
        },
        tags: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
      },
      "x-kubernetes-validations": [
        {
          rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
          messageExpression: "self.low > 4 ? 'much too low' : 'too low'",
          fieldPath: ".low",
        },
        {
          rule: "!has(self.tags) || self.tags.all(t, t.startsWith('t'))",
          message: "tags start with t",
          reason: "FieldValueForbidden",
        },
      ],
    });
    await lab.post(
      things,
      object(lab, "a", { spec: { low: 1, high: 2, name: "n", tags: ["t1"] } }),
    );
    await lab.post(things, object(lab, "b", { spec: { low: 3, high: 2 } }));
    await lab.post(things, object(lab, "c", { spec: { tags: ["x"] } }));
    await lab.patch("merge", `${things}/a`, { spec: { name: "other" } });
    await lab.patch("merge", `${things}/a`, { spec: { low: 5 } });
    await lab.patch("merge", `${things}/a`, { spec: { high: 7 } });
  },
  "what was wrong before may stay": async (lab) => {
    const things = await thing(lab, {
      type: "object",
      properties: { s: { type: "string" }, n: { type: "integer" } },
    });
    await lab.create(things, object(lab, "a", { spec: { s: "long enough", n: 1 } }));
    const crd = definition({
      group: groupOf(lab),
      kind: "Thing",
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { s: { type: "string", maxLength: 3 }, n: { type: "integer" } },
          },
        },
      },
    });
    await lab.mustPatch(`${path}/things.${groupOf(lab)}`, { spec: crd["spec"] ?? null });
    await lab
      .until(`${things}?x=1`, ({ status }) => status === 200)
      .then(() => lab.observations.pop());
    // The new schema is in force once it refuses something.
    const refused = {
      method: "POST",
      path: `${things}?dryRun=All`,
      body: object(lab, "z", { spec: { s: "much too long" } }),
    } as const;
    await until(
      async () => (await lab.quietly(refused)).status === 422,
      lab.signal,
      "the new schema to refuse what is too long",
    );
    await lab.patch("merge", `${things}/a`, { spec: { n: 2 } });
    await lab.patch("merge", `${things}/a`, { spec: { s: "other too long" } });
    await lab.patch("merge", `${things}/a`, { spec: { s: "ok" } });
  },
};

export const customValueCases = casesOf("custom values", scripts);
