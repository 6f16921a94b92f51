import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { admitArk } from "../../testing/ark-bed.ts";

const blocks = {
  http: { url: "https://x", method: "GET" },
  mcp: { mcpServerRef: { name: "s" }, toolName: "t" },
  agent: { name: "a" },
  team: { name: "t" },
  builtin: { name: "noop" },
  inline: { source: "echo", language: "bash" },
};
type Type = keyof typeof blocks;
const types = Object.keys(blocks) as readonly Type[];
const toolOf = (type: Type, more: object = {}) => ({ type, [type]: blocks[type], ...more });

async function errorsOf(spec: object, old?: object): Promise<readonly string[]> {
  const before = old === undefined ? {} : { old: { spec: old } };
  return (await admitArk({ plural: "tools", spec, ...before })).errors;
}

suite("admission of tools", () => {
  test("the block of its type, and no other", async () => {
    for (const type of types) {
      assert.deepEqual(await errorsOf(toolOf(type)), [], type);
      assert.deepEqual(await errorsOf({ type }), [
        `spec.${type}: Required value: type ${type} needs it`,
      ]);
      for (const other of types.filter((one) => one !== type)) {
        assert.deepEqual(await errorsOf(toolOf(type, { [other]: blocks[other] })), [
          `spec.${other}: Forbidden: may not be given where the type is ${type}`,
        ]);
      }
    }
  });

  test("those that are built in are known", async () => {
    assert.deepEqual(await errorsOf({ type: "builtin", builtin: { name: "terminate" } }), []);
    assert.deepEqual(await errorsOf({ type: "builtin", builtin: { name: "x" } }), [
      'spec.builtin.name: Unsupported value: "x": supported values: "noop", "terminate"',
    ]);
  });

  test("inline stays inline, and nothing else becomes it", async () => {
    for (const from of types) {
      for (const to of types) {
        const isRefused = from !== to && (from === "inline" || to === "inline");
        assert.deepEqual(
          await errorsOf(toolOf(to), toolOf(from)),
          isRefused
            ? [
                `spec.type: Invalid value: "${to}": cannot change from ${from}: delete the Tool and make another`,
              ]
            : [],
          `${from} to ${to}`,
        );
      }
    }
  });

  test("an approval is judged as an agent's is", async () => {
    assert.deepEqual(
      await errorsOf(
        toolOf("mcp", {
          approval: { timeout: "0", argumentMatches: [{ argument: "a", pattern: "[" }] },
        }),
      ),
      [
        'spec.approval.timeout: Invalid value: "0": must be longer than 0',
        'spec.approval.argumentMatches[0].pattern: Invalid value: "[": must be a regular expression: error parsing regexp: missing closing ]: `[`',
      ],
    );
  });

  test("headers and body parameters have one source", async () => {
    const http = {
      ...blocks.http,
      headers: [{ name: "h", value: {} }],
      bodyParameters: [{ name: "p" }],
    };
    assert.deepEqual(await errorsOf({ type: "http", http }), [
      "spec.http.headers[0].value: Required value: value or valueFrom must be given",
      "spec.http.bodyParameters[0]: Required value: value or valueFrom must be given",
    ]);
  });

  test("an input schema is a JSON schema", async () => {
    const at = "spec.inputSchema";
    const schema = "must be a JSON schema: an object, true or false";
    const types = '"null", "boolean", "object", "array", "number", "string", "integer"';
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{}, []],
      [
        {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          type: "object",
          properties: {
            type: { type: ["string", "null"], minLength: 1, pattern: "^(?i)a" },
            list: { type: "array", items: { $ref: "#/$defs/x" }, uniqueItems: true },
            pair: { prefixItems: [{ type: "number" }, true], items: false },
          },
          required: ["type"],
          additionalProperties: false,
          dependentRequired: { list: ["pair"] },
          if: { properties: { type: { const: null } } },
          else: { not: { enum: [1, null, {}] } },
          $defs: { x: { anyOf: [{ multipleOf: 0.5 }, { exclusiveMinimum: 0 }] } },
          "x-anything": [{ type: "nonsense" }],
        },
        [],
      ],
      // An older draft.
      [
        {
          items: [{ minimum: 0, exclusiveMinimum: true }],
          additionalItems: { type: "string" },
          definitions: { a: {} },
          dependencies: { a: ["b"], c: { type: "object" } },
        },
        [],
      ],
      [{ type: "text" }, [`${at}.type: Unsupported value: "text": supported values: ${types}`]],
      [
        { type: ["string", 1, "int"] },
        [
          `${at}.type[1]: Invalid value: must be the name of a type`,
          `${at}.type[2]: Unsupported value: "int": supported values: ${types}`,
        ],
      ],
      [
        { properties: { a: { properties: { "b.c": "string" } } } },
        [`${at}.properties[a].properties[b.c]: Invalid value: ${schema}`],
      ],
      [{ properties: [] }, [`${at}.properties: Invalid value: must be a map of JSON schemas`]],
      [{ items: [] }, [`${at}.items: Invalid value: must be a list of JSON schemas`]],
      [{ anyOf: {} }, [`${at}.anyOf: Invalid value: must be a list of JSON schemas`]],
      [{ allOf: [{}, 1] }, [`${at}.allOf[1]: Invalid value: ${schema}`]],
      [{ required: true }, [`${at}.required: Invalid value: must be a list of texts`]],
      [{ enum: "a" }, [`${at}.enum: Invalid value: must be a list`]],
      [{ minLength: -1 }, [`${at}.minLength: Invalid value: must be a whole number, at least 0`]],
      [{ maxItems: 1.5 }, [`${at}.maxItems: Invalid value: must be a whole number, at least 0`]],
      [{ minimum: "1" }, [`${at}.minimum: Invalid value: must be a number`]],
      [{ exclusiveMaximum: "1" }, [`${at}.exclusiveMaximum: Invalid value: must be a number`]],
      [{ multipleOf: 0 }, [`${at}.multipleOf: Invalid value: must be a number above 0`]],
      [{ uniqueItems: 1 }, [`${at}.uniqueItems: Invalid value: must be true or false`]],
      [{ description: {} }, [`${at}.description: Invalid value: must be a text`]],
      [{ dependencies: [] }, [`${at}.dependencies: Invalid value: must be a map`]],
      [
        { dependentRequired: { a: [1] } },
        [`${at}.dependentRequired[a]: Invalid value: must be a list of texts`],
      ],
    ];
    for (const [inputSchema, errors] of cases) {
      const outcome = await errorsOf(toolOf("mcp", { inputSchema }));
      assert.deepEqual(outcome, errors, JSON.stringify(inputSchema));
    }
  });
});
