import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { validateSchema } from "@keelson/kube";

import { arkGroup } from "./ark-group.ts";
import { arkDefinitions, arkResources } from "./ark-kinds.ts";

const resources = arkResources();
const context = { now: "2026-01-01T00:00:00Z", uuid: () => "00000000-0000-0000-0000-000000000000" };

function resource(plural: string) {
  const found = resources.find((one) => one.plural === plural);
  assert.ok(found !== undefined, plural);
  return found;
}

function object(plural: string, spec: JsonObject, status?: JsonObject): JsonObject {
  const { group, version, kind } = resource(plural);
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "x", namespace: "default" },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

/** What is read, what was unknown and what is wrong. */
function judge(plural: string, spec: JsonObject, status?: JsonObject) {
  const { model } = resource(plural);
  const read = model.read(object(plural, spec, status), context);
  const errors = model.validate(read.object, context);
  return { ...read, errors: errors.map(({ field, type }) => `${field} ${type}`) };
}

const value = { value: "x" };

suite("Ark kinds", () => {
  test("every kind is there, in its version and scope", () => {
    assert.deepEqual(
      resources.map(({ plural, version, isNamespaced, singular, listKind, fieldLabels }) =>
        [plural, version, isNamespaced, singular, listKind, fieldLabels.join(" ")].join(" "),
      ),
      [
        "queries v1alpha1 true query QueryList spec.type spec.target.name status.phase",
        "agents v1alpha1 true agent AgentList spec.modelRef.name",
        "models v1alpha1 true model ModelList spec.type spec.provider status.phase",
        "teams v1alpha1 true team TeamList ",
        "tools v1alpha1 true tool ToolList spec.type",
        "mcpservers v1alpha1 true mcpserver MCPServerList ",
        "memories v1alpha1 true memory MemoryList status.phase",
        "evaluations v1alpha1 true evaluation EvaluationList spec.type status.phase",
        "evaluators v1alpha1 true evaluator EvaluatorList status.phase",
        "a2atasks v1alpha1 true a2atask A2ATaskList status.phase",
        "a2aservers v1prealpha1 true a2aserver A2AServerList ",
        "executionengines v1prealpha1 true executionengine ExecutionEngineList spec.type status.phase",
        "arkconfigs v1alpha1 false arkconfig ArkConfigList ",
      ],
    );
    for (const { group, verbs, subresources } of resources) {
      assert.equal(group, arkGroup);
      assert.equal(verbs.length, 8);
      assert.deepEqual(
        subresources.map(({ name }) => name),
        ["status"],
      );
    }
  });

  test("every schema is structural", () => {
    for (const { metadata, spec } of arkDefinitions()) {
      const { versions } = spec as unknown as {
        versions: { schema: { openAPIV3Schema: JsonObject } }[];
      };
      for (const { schema } of versions) {
        const errors = validateSchema(schema.openAPIV3Schema, { path: "schema", hasStatus: true });
        assert.deepEqual(errors, [], JSON.stringify(metadata));
      }
    }
  });

  test("bedrock.maxTokens of 0 is refused with its path (API-7)", () => {
    const config = { bedrock: { maxTokens: 0 } };
    assert.deepEqual(judge("models", { model: value, config }).errors, [
      "spec.config.bedrock.maxTokens FieldValueInvalid",
    ]);
    assert.deepEqual(
      judge("models", { model: value, config: { bedrock: { maxTokens: 1 } } }).errors,
      [],
    );
  });

  test("a field that a kind does not have is dropped and named (API-7)", () => {
    const { object: read, problems } = judge("agents", { prompt: "p", unknownField: 1 });
    assert.deepEqual(problems, [`unknown field "spec.unknownField"`]);
    assert.deepEqual(read["spec"], { prompt: "p" });
  });

  test("defaults are filled in, but not those that admission decides", () => {
    const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
      ["queries", { input: "hi" }, { input: "hi", type: "user", timeout: "5m" }],
      [
        "models",
        { model: value, config: {} },
        { model: value, config: {}, type: "completions", pollInterval: "5m" },
      ],
      [
        "teams",
        { members: [], strategy: "sequential" },
        { members: [], strategy: "sequential", loops: false },
      ],
      [
        "tools",
        { type: "http", http: { url: "https://x" } },
        { type: "http", http: { url: "https://x", method: "GET" } },
      ],
      [
        "mcpservers",
        { address: value, authorization: { tokenSecretRef: { name: "s" } } },
        {
          address: value,
          authorization: {
            tokenSecretRef: {
              name: "s",
              accessTokenKey: "access_token",
              refreshTokenKey: "refresh_token",
              expiresAtKey: "expires_at",
              clientIDKey: "client_id",
              clientSecretKey: "client_secret",
            },
          },
          transport: "http",
          timeout: "30s",
          pollInterval: "1m",
        },
      ],
      ["evaluations", { config: {} }, { config: {}, type: "direct", timeout: "5m" }],
      [
        "a2atasks",
        { queryRef: { name: "q" }, a2aServerRef: { name: "s" }, agentRef: {}, taskId: "t" },
        {
          queryRef: { name: "q" },
          a2aServerRef: { name: "s" },
          agentRef: {},
          taskId: "t",
          priority: 0,
          timeout: "12h",
          ttl: "720h",
          pollInterval: "5s",
        },
      ],
      ["a2aservers", { address: value }, { address: value, pollInterval: "1m", timeout: "5m" }],
    ];
    for (const [plural, sent, expected] of cases) {
      const { object: read, errors } = judge(plural, sent);
      assert.deepEqual([read["spec"], errors], [expected, []], plural);
    }
    assert.deepEqual(judge("queries", { input: "hi" }, {}).object["status"], { phase: "pending" });
  });

  test("what is outside the schema is refused", () => {
    const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
      ["queries", {}, ["spec.input FieldValueRequired"]],
      [
        "queries",
        { input: "x", target: { type: "robot", name: "" } },
        ["spec.target.type FieldValueNotSupported", "spec.target.name FieldValueInvalid"],
      ],
      ["queries", { input: "x", timeout: "soon" }, ["spec.timeout FieldValueInvalid"]],
      [
        "queries",
        { input: "x", overrides: [{ resourceType: "model", headers: [] }] },
        ["spec.overrides[0].headers FieldValueInvalid"],
      ],
      ["agents", { tools: [{ name: "t" }] }, ["spec.tools[0].type FieldValueRequired"]],
      ["models", { model: value }, ["spec.config FieldValueRequired"]],
      [
        "models",
        { model: value, config: { bedrock: { temperature: "1.5" } } },
        ["spec.config.bedrock.temperature FieldValueInvalid"],
      ],
      [
        "teams",
        { members: [{ name: "a" }], strategy: "both" },
        ["spec.members[0].type FieldValueRequired", "spec.strategy FieldValueNotSupported"],
      ],
      [
        "tools",
        { type: "http", http: { url: "ftp://x", timeout: "1d" } },
        ["spec.http.timeout FieldValueInvalid", "spec.http.url FieldValueInvalid"],
      ],
      [
        "evaluators",
        { address: value, selector: { resourceType: "Agent" } },
        ["spec.selector.resourceType FieldValueNotSupported"],
      ],
    ];
    for (const [plural, spec, expected] of cases) {
      const { errors } = judge(plural, spec);
      const told = errors.filter((error) => !error.startsWith("<nil>"));
      assert.deepEqual(told.toSorted(), expected.toSorted(), plural);
    }
  });

  test("input is kept as it is, whatever it is", () => {
    for (const input of ["hi", [{ role: "user", content: "hi", extra: { a: null } }], { a: 1 }]) {
      const { object: read, problems, errors } = judge("queries", { input, type: "messages" });
      assert.deepEqual([(read["spec"] as JsonObject)["input"], problems, errors], [input, [], []]);
    }
  });

  test("the source of an inline tool is measured in bytes", () => {
    const inline = (source: string) =>
      judge("tools", { type: "inline", inline: { source, language: "bash" } }).errors;
    assert.deepEqual(inline("x".repeat(65_536)), []);
    assert.deepEqual(inline("é".repeat(32_769)), ["spec.inline.source FieldValueInvalid"]);
  });

  test("rows show what the columns promise", () => {
    const { columns, row } = resource("agents");
    const status = { conditions: [{ type: "Available", status: "True" }] };
    const agent = {
      ...object("agents", { modelRef: { name: "default" } }, status),
      metadata: { name: "x", creationTimestamp: "2026-01-01T00:00:00Z" },
    };
    assert.deepEqual(
      columns.map(({ name }) => name),
      ["Name", "Model", "Available", "Age"],
    );
    assert.deepEqual(row(agent, Date.parse("2026-01-01T00:05:00Z")).cells, [
      "x",
      "default",
      "True",
      "5m",
    ]);
  });
});
