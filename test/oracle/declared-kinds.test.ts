// The kinds of Ark and of the platform as definitions in a real cluster: it takes them, and judges objects as we do.

import assert from "node:assert/strict";

import { arkDefinitions, declaredResources } from "@keelson/apiserver";
import type { JsonObject } from "@keelson/base";
import { printFieldError, TypedDecodeError } from "@keelson/kube";
import { platformDefinitions } from "@keelson/platform";

import { startOracle, type Oracle } from "./cluster.ts";
import { compare, describeDifference } from "./compare.ts";
import { oracleTest } from "./oracle-test.ts";
import { isEstablished } from "./is-established.ts";
import { until } from "../tools/until.ts";

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const value = { value: "x" };
const definitions = [...arkDefinitions(), ...platformDefinitions()];
const app = { repository: "r", framework: "nextjs", environment: "staging" };
const preview = { applicationRef: "app", pullRequest: 1, branch: "b" };

/** Specs, good and bad, by plural. */
const specs: readonly (readonly [string, JsonObject, JsonObject?])[] = [
  ["queries", { input: "hi" }],
  [
    "queries",
    { input: [{ role: "user", content: [{ type: "text", text: "hi" }] }], type: "messages" },
  ],
  ["queries", {}],
  ["queries", { input: "x", timeout: "1h30m", ttl: "-1.5s" }],
  ["queries", { input: "x", timeout: "soon", target: { type: "robot", name: "" } }],
  ["queries", { input: "x", targets: [{ type: "agent", name: "a" }], evaluators: [{ name: "" }] }],
  ["queries", { input: "x", overrides: [{ resourceType: "model", headers: [] }] }],
  [
    "queries",
    { input: "x", parameters: [{ name: "p", valueFrom: { secretKeyRef: { name: "s" } } }] },
  ],
  ["queries", { input: "x", selector: { matchExpressions: [{ key: "a", operator: "Exists" }] } }],
  ["agents", { prompt: "p", unknownField: 1, tools: [{ type: "custom", name: "t" }] }],
  ["agents", { tools: [{ name: "t", approval: { onTimeout: "wait", timeout: "5" } }] }],
  ["models", { model: value, config: { bedrock: { maxTokens: 0 } } }],
  ["models", { model: value, config: { bedrock: { maxTokens: 100_001, temperature: "1.5" } } }],
  ["models", { model: value, config: { openai: { baseUrl: value } }, type: "azure" }],
  [
    "models",
    {
      model: value,
      config: { openai: { baseUrl: value, apiKey: value, properties: { a: value } } },
    },
  ],
  ["models", { model: "text" }],
  ["teams", { members: [{ name: "a" }], strategy: "both" }],
  ["teams", { members: [{ name: "a", type: "agent" }], strategy: "graph", graph: {} }],
  ["tools", { type: "http", http: { url: "ftp://x", timeout: "1d" } }],
  ["tools", { type: "inline", inline: { source: "é".repeat(40_000), language: "bash" } }],
  ["tools", { type: "inline", inline: { source: "x".repeat(65_537), language: "perl" } }],
  ["tools", { type: "mcp", mcp: { mcpServerRef: {}, toolName: "" } }],
  ["mcpservers", { address: value, authorization: { tokenSecretRef: {} } }],
  [
    "mcpservers",
    { address: { valueFrom: { serviceRef: { name: "s", port: "http" } } }, transport: "udp" },
  ],
  ["memories", { address: value, headers: [{ name: "h", value: {} }] }],
  ["evaluations", { config: { anything: [1, { a: "b" }] }, evaluator: {} }],
  ["evaluators", { address: value, selector: { resourceType: "Agent" } }],
  ["a2atasks", { queryRef: { name: "q" }, a2aServerRef: { name: "s" }, agentRef: {}, taskId: "t" }],
  ["a2atasks", { queryRef: {}, a2aServerRef: {}, taskId: "", priority: 2 ** 40 }],
  ["a2aservers", { address: value, allowedEndpointHosts: ["a"], endpointResolution: "guess" }],
  ["executionengines", { address: value }],
  ["executionengines", { type: "langchain" }],
  ["arkconfigs", { queryTTL: "720h", evaluationTTL: "x" }],
  ["applications", {}],
  ["applications", app],
  [
    "applications",
    { ...app, scaling: { min: 3 }, auth: {}, storage: { buckets: [{ name: "b" }] } },
  ],
  ["applications", { ...app, scaling: { min: 30 }, runAsUser: 0, deletionPolicy: "Keep" }],
  ["applications", { ...app, cors: { origins: ["*", "https://a.b:80", "https://a.b:80"] } }],
  ["applications", { ...app, envVars: [{ name: "A" }, { name: "A", value: "1" }] }],
  ["applications", { ...app, envVars: [{ name: "a-b", value: "", secretKeyRef: { name: "s" } }] }],
  ["applications", { ...app, database: { enabled: true, schemaName: "pg_x" } }],
  ["applications", { ...app, database: { migrations: { engine: "raw", path: "a/../b" } } }],
  ["applications", { ...app, database: { migrations: { engine: "flyway", path: "..b/./c" } } }],
  ["applications", { ...app, auth: { providers: ["facebook", "github"] }, domain: "a..b" }],
  ["previewenvironments", preview],
  ["previewenvironments", { ...preview, ttl: "31d", pullRequest: 0 }],
  ["previewenvironments", { ...preview, ttl: "43200m", applicationRef: "a/b/c" }],
  ["previewenvironments", { ...preview, ttl: "0m" }],
];

async function install(oracle: Oracle, signal: AbortSignal): Promise<void> {
  for (const body of definitions) {
    const sent = { method: "POST", path: definitionsPath, body } as const;
    const { status, text } = await oracle.client.send(sent, signal);
    assert.equal(status, 201, text);
  }
  await until(async () => {
    const { body } = await oracle.client.send({ path: definitionsPath }, signal);
    const { items } = body as { items: JsonObject[] };
    return items.every(isEstablished);
  }, signal);
}

oracleTest(
  "a real server takes the definitions as they are, and defaults nothing in them",
  async (t) => {
    await using oracle = await startOracle({}, t.signal);
    await install(oracle, t.signal);
    for (const definition of definitions) {
      const { name } = definition["metadata"] as { name: string };
      const { body } = await oracle.client.send({ path: `${definitionsPath}/${name}` }, t.signal);
      const got = body as JsonObject & { status: { conditions: { type: string }[] } };
      assert.deepEqual(compare(got["spec"], definition["spec"]).map(describeDifference), [], name);
      const types = got.status.conditions.map(({ type }) => type);
      assert.ok(!types.includes("NonStructuralSchema"), name);
    }
  },
);

oracleTest("a real server judges and defaults objects of these kinds as we do", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  await install(oracle, t.signal);
  const resources = declaredResources(definitions);
  const context = { now: "2026-01-01T00:00:00Z", uuid: () => "u" };
  const differences: string[] = [];
  for (const [index, [plural, spec]] of specs.entries()) {
    const resource = resources.find((one) => one.plural === plural);
    assert.ok(resource !== undefined);
    const { group, version, kind, isNamespaced, model } = resource;
    const sent = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: `case-${index}`, ...(isNamespaced ? { namespace: "default" } : {}) },
      spec,
    };
    const scope = isNamespaced ? "/namespaces/default" : "";
    const path = `/apis/${group}/${version}${scope}/${plural}?dryRun=All`;
    const answer = await until(async () => {
      const got = await oracle.client.send({ method: "POST", path, body: sent }, t.signal);
      return got.status === 404 ? undefined : got;
    }, t.signal);
    const theirs = theirJudgement(answer.status, answer.body as JsonObject, answer.warnings);
    const ours = ourJudgement();
    for (const difference of compare(theirs, ours)) {
      differences.push(`${index} ${plural} ${describeDifference(difference)}`);
    }

    function ourJudgement(): JsonObject {
      try {
        const { object, problems: warnings } = model.read(sent, context);
        const errors = model.validate(object, context);
        return errors.length === 0
          ? { spec: object["spec"] ?? null, warnings }
          : { errors: errors.map(printFieldError).sort(), warnings };
      } catch (error) {
        if (error instanceof TypedDecodeError) return { refused: error.message };
        throw error;
      }
    }
  }
  assert.deepEqual(differences, []);
});

function theirJudgement(status: number, body: JsonObject, warnings: readonly string[]): JsonObject {
  if (status === 201) return { spec: body["spec"] ?? null, warnings };
  if (status !== 422) return { refused: body["message"] ?? "" };
  const { causes } = body["details"] as { causes: { field: string; message: string }[] };
  return { errors: causes.map(({ field, message }) => `${field}: ${message}`).sort(), warnings };
}
