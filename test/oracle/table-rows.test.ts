import assert from "node:assert/strict";
import { suite } from "node:test";

import { readJson, writeJson, type Json, type JsonObject } from "@keelson/base";
import { CustomColumns, loadBuiltinKinds, renderTable } from "@keelson/kube";
import { loadKindExamples } from "@keelson/kube/testing";
import type { PrinterColumn } from "@keelson/kube";
import type { HttpClient } from "../tools/http-client.ts";
import { startOracle } from "./cluster.ts";
import { collectionPath } from "./kinds/paths.ts";
import { oracleTest } from "./oracle-test.ts";
import { podStatuses } from "./table-cases.ts";
import { getTable, runTableDifferential } from "./table-differential.ts";
import { until } from "../tools/until.ts";

suite("tables against the oracle", () => {
  oracleTest("every kind has the same cells", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    await createExamples(oracle.client, t.signal);
    await createPods(oracle.client, t.signal);
    const tally = await runTableDifferential(oracle.client, await loadBuiltinKinds(), t.signal);
    t.diagnostic(`${tally.rows} rows of ${tally.kinds} kinds`);
    assert.deepEqual(tally.differences, []);
    assert.ok(tally.kinds > 50 && tally.rows > 150, `${tally.rows} rows of ${tally.kinds} kinds`);
  });

  oracleTest("columns of custom kinds follow their paths alike", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    const { client } = oracle;
    await createShown(client, t.signal);
    const path = "/apis/tables.example.com/v1/namespaces/default/showns?includeObject=Object";
    const { table, times } = await getTable(client, path, t.signal);
    const columns = new CustomColumns(printerColumns);
    for (const row of table["rows"] as JsonObject[]) {
      const object = row["object"] as JsonObject;
      const cells = times.map((nowMs) => writeJson(columns.row(object, nowMs).cells as Json));
      assert.ok(
        cells.includes(writeJson(row["cells"] ?? null)),
        `${writeJson(row["cells"] ?? null)}\n${cells[0]}`,
      );
    }
    const rendered = renderTable({ columns: columns.columns, rows: [], metadata: {} });
    const named = (definitions: Json | undefined): Json[] =>
      (definitions as JsonObject[])
        .slice(1)
        .map(({ name, type, format, description, priority }) => [
          name ?? "",
          type ?? "",
          format ?? "",
          description ?? "",
          priority ?? 0,
        ]);
    assert.deepEqual(named(rendered["columnDefinitions"]), named(table["columnDefinitions"]));
  });
});

const printerColumns: readonly PrinterColumn[] = [
  { name: "Text", type: "string", jsonPath: ".spec.text" },
  { name: "Number", type: "integer", jsonPath: ".spec.number", priority: 1 },
  { name: "Float", type: "number", jsonPath: ".spec.float" },
  { name: "FloatText", type: "string", jsonPath: ".spec.float" },
  { name: "Flag", type: "boolean", jsonPath: ".spec.flag", description: "Whether." },
  { name: "When", type: "date", jsonPath: ".spec.when" },
  { name: "First", type: "string", jsonPath: ".spec.list[0]" },
  { name: "Last", type: "string", jsonPath: ".spec.list[-1]" },
  { name: "Slice", type: "string", jsonPath: ".spec.list[0:2]" },
  { name: "All", type: "string", jsonPath: ".spec.list" },
  { name: "Map", type: "string", jsonPath: ".spec.map" },
  { name: "Ready", type: "string", jsonPath: '.spec.conditions[?(@.type=="Ready")].status' },
  { name: "Wrong", type: "integer", jsonPath: ".spec.text" },
  { name: "Dotted", type: "string", jsonPath: ".spec.map.a\\.b" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

const shownSpecs: readonly JsonObject[] = [
  {},
  {
    text: "a",
    number: 3,
    float: 1.5,
    flag: true,
    when: "2026-01-01T00:00:00Z",
    list: ["x", "y", "z"],
  },
  {
    text: "",
    float: 1e7,
    flag: false,
    when: "2020-01-01T00:00:00Z",
    list: [],
    map: { "a.b": "c", z: "<" },
  },
  {
    list: ["x"],
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
  { when: "yesterday", conditions: [{ type: "Other", status: "False" }] },
];

async function createShown(client: HttpClient, signal: AbortSignal): Promise<void> {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: open } } };
  const names = { plural: "showns", kind: "Shown" };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema,
    additionalPrinterColumns: printerColumns,
  };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "showns.tables.example.com" },
    spec: { group: "tables.example.com", scope: "Namespaced", names, versions: [version] },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const made = await client.send({ method: "POST", path, body: definition }, signal);
  assert.equal(made.status, 201, made.text);
  const collection = "/apis/tables.example.com/v1/namespaces/default/showns";
  await until(async () => (await client.send({ path: collection }, signal)).status === 200, signal);
  for (const [index, spec] of shownSpecs.entries()) {
    const metadata = { name: `shown-${index}` };
    const body = { apiVersion: "tables.example.com/v1", kind: "Shown", metadata, spec };
    const answer = await client.send({ method: "POST", path: collection, body }, signal);
    assert.equal(answer.status, 201, answer.text);
  }
}

async function createExamples(client: HttpClient, signal: AbortSignal): Promise<void> {
  const kinds = await loadBuiltinKinds();
  const examples = await loadKindExamples();
  const namespaces = new Set<string>();
  for (const kind of kinds.all) {
    const example = examples[`${kind.group}/${kind.version}/${kind.kind}`];
    if (example === undefined) continue;
    const { namespace } = (example.sent["metadata"] ?? {}) as { namespace?: string };
    if (namespace !== undefined && !namespaces.has(namespace)) {
      namespaces.add(namespace);
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
      await client.send({ method: "POST", path: "/api/v1/namespaces", body }, signal);
    }
    const path = collectionPath(kind, namespace);
    await client.send({ method: "POST", path, body: example.sent }, signal);
  }
}

/** Pods in every state that the Status column tells apart. */
async function createPods(client: HttpClient, signal: AbortSignal): Promise<void> {
  const pods = "/api/v1/namespaces/default/pods";
  for (const [index, { spec = {}, status }] of podStatuses.entries()) {
    const metadata = { name: `pod-${index}` };
    const containers = [
      { name: "a", image: "a" },
      { name: "b", image: "b" },
    ];
    const body = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers, ...spec } };
    const made = await client.send({ method: "POST", path: pods, body }, signal);
    assert.equal(made.status, 201, made.text);
    const headers = { "content-type": "application/merge-patch+json" };
    const path = `${pods}/pod-${index}/status`;
    const patched = await client.send({ method: "PATCH", path, headers, body: { status } }, signal);
    assert.equal(patched.status, 200, patched.text);
    readJson(patched.text);
  }
}
