// Objects of custom kinds, as the real server reads and judges them and as our model of the kind does.

import assert from "node:assert/strict";

import { customResources, type Resource } from "@keelson/apiserver";
import type { JsonObject } from "@keelson/base";
import { printFieldError, TypedDecodeError } from "@keelson/kube";

import { startOracle, type Oracle } from "./cluster.ts";
import { compare, describeDifference } from "./compare.ts";
import { definitions } from "./discovery-definitions.ts";
import { oracleTest } from "./oracle-test.ts";
import { isEstablished } from "./is-established.ts";
import { until } from "../tools/until.ts";

const context = { now: "2026-01-01T00:00:00Z", uuid: () => "u" };
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const owner = { apiVersion: "v1", kind: "ConfigMap", uid: "u", name: "n", extra: 1 };

/** Everything but type and name of a Widget. */
const created: readonly JsonObject[] = [
  { spec: {} },
  { spec: { size: 0 } },
  { spec: { size: 11, color: "blue", note: null, holder: null, when: "never" } },
  { spec: { size: 1, replicas: -1 } },
  { spec: { size: 1, replicas: 2 ** 31 } },
  { spec: { size: 1, replicas: "three", port: "http" } },
  { spec: { size: 1, unknown: { a: 1 }, ports: [{ port: 1 }, { port: 1 }], tags: ["a", "a"] } },
  { spec: { size: 1 }, status: { replicas: -5, phase: "x" }, other: 1 },
  { spec: { size: 1, template: { kind: "A", apiVersion: "v1", metadata: { labels: { a: 1 } } } } },
  {
    spec: { size: 1, template: { metadata: { name: "x", what: 1 }, kind: "a b", apiVersion: "" } },
  },
  { spec: { size: 1, typed: { kind: "A", apiVersion: "v1", data: "d", more: 1 } } },
  { spec: { size: 1, choice: { a: "x", b: "y" }, both: "", bounded: {}, items: [] } },
  { spec: { size: 1 }, metadata: { labels: { a: 1 } } },
  { spec: { size: 1 }, metadata: { labels: "x" } },
  { spec: { size: 1 }, metadata: { annotations: null, finalizers: null, what: { x: 1 } } },
  { spec: { size: 1 }, metadata: { finalizers: ["plain", "a.b", "x.y/z", "orphan"] } },
  { spec: { size: 1 }, metadata: { ownerReferences: [owner] } },
  { spec: { size: 1 }, metadata: { generation: "x" } },
  { spec: null },
  { spec: { size: 1.5 } },
  { spec: { size: 1.0, any: [null, { a: null }], anything: { x: null } } },
  {},
];

/** What is sent to `/status`. */
const statuses: readonly JsonObject[] = [
  { status: { replicas: 3, selector: "a=b", phase: "x" } },
  { status: { replicas: -1 } },
  { status: { replicas: 2 ** 31, phase: 1 } },
  { status: { selector: 5 } },
  { status: { replicas: 1, unknown: 2 } },
  {
    status: {
      conditions: [
        { type: "A", status: "Maybe" },
        { type: "A", status: "True" },
      ],
    },
  },
  { status: "text" },
  { spec: { size: 99 } },
];

async function install(oracle: Oracle, signal: AbortSignal): Promise<Resource> {
  const [body] = definitions;
  const { status, text } = await oracle.client.send(
    { method: "POST", path: definitionsPath, body },
    signal,
  );
  assert.equal(status, 201, text);
  const path = `${definitionsPath}/widgets.shapes.example.com`;
  const definition = await until(
    async () => {
      const got = await oracle.client.send({ path }, signal);
      return isEstablished(got.body as JsonObject) ? (got.body as JsonObject) : undefined;
    },
    signal,
    "the definition to be established",
  );
  const resource = customResources(definition).find(({ version }) => version === "v1");
  assert.ok(resource !== undefined);
  await until(
    async () => {
      const list = { path: "/apis/shapes.example.com/v1/widgets" };
      return (await oracle.client.send(list, signal)).status === 200;
    },
    signal,
    "Widgets to be served",
  );
  return resource;
}

const collection = "/apis/shapes.example.com/v1/namespaces/default/widgets";

function widget(name: string, { metadata, ...rest }: JsonObject): JsonObject {
  return {
    apiVersion: "shapes.example.com/v1",
    kind: "Widget",
    metadata: { name, namespace: "default", ...(metadata as JsonObject | undefined) },
    ...rest,
  };
}

/** What the real server said, as far as the model of a kind decides it. */
function theirs(answer: {
  readonly status: number;
  readonly body: unknown;
  readonly warnings: readonly string[];
}): JsonObject {
  const body = answer.body as JsonObject;
  if (answer.status < 300) {
    return {
      spec: body["spec"] ?? null,
      status: body["status"] ?? null,
      warnings: answer.warnings,
    };
  }
  if (answer.status !== 422) return { refused: body["message"] ?? "" };
  const { causes } = body["details"] as { causes: { field: string; message: string }[] };
  // The real server walks properties in any order.
  return { errors: causes.map(({ field, message }) => `${field}: ${message}`).sort() };
}

/** The same of ours. `old` makes it a write of the status. */
function ours({ model, kind, version }: Resource, sent: JsonObject, old?: JsonObject): JsonObject {
  try {
    const { object: read, problems } = model.read(sent, context);
    const { status, ...rest } = read;
    // What the server does with the two halves of an object that has a status.
    const next: JsonObject =
      old === undefined ? rest : { ...old, ...(status === undefined ? {} : { status }) };
    const errors =
      old === undefined
        ? model.validate(next, context)
        : model.subresource("status").validateUpdate(next, old, context);
    if (errors.length > 0) return { errors: errors.map(printFieldError).sort() };
    return {
      spec: next["spec"] ?? null,
      status: next["status"] ?? null,
      warnings: [...problems, ...model.warnings(next, old)],
    };
  } catch (error) {
    if (!(error instanceof TypedDecodeError)) throw error;
    const described = `${kind} in version "${version}" cannot be handled as a ${kind}`;
    return { refused: `${described}: ${error.message}` };
  }
}

oracleTest("custom objects are read and judged as the real server does", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const resource = await install(oracle, t.signal);
  const differences: string[] = [];
  for (const [index, fields] of created.entries()) {
    const body = widget(`case-${index}`, fields);
    const sent = { method: "POST", path: `${collection}?dryRun=All`, body } as const;
    const answer = await oracle.client.send(sent, t.signal);
    for (const difference of compare(theirs(answer), ours(resource, body))) {
      differences.push(`create ${index} ${describeDifference(difference)}`);
    }
  }

  const body = widget("holder", { spec: { size: 1 } });
  const stored = await oracle.client.send({ method: "POST", path: collection, body }, t.signal);
  assert.equal(stored.status, 201, stored.text);
  const live = stored.body as JsonObject;
  for (const [index, fields] of statuses.entries()) {
    const { metadata, ...rest } = live;
    const next = { ...rest, metadata: metadata ?? {}, ...fields };
    const path = `${collection}/holder/status?dryRun=All`;
    const answer = await oracle.client.send({ method: "PUT", path, body: next }, t.signal);
    for (const difference of compare(theirs(answer), ours(resource, next, live))) {
      differences.push(`status ${index} ${describeDifference(difference)}`);
    }
  }
  assert.deepEqual(differences, []);
});
