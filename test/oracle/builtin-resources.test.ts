// The models of the built-in kinds beside the real server: who manages what, both shapes of an Event, warnings.

import assert from "node:assert/strict";

import { builtinResources, type Resource } from "@keelson/apiserver";
import { cloneJson, isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds } from "@keelson/kube";
import { loadKindExamples } from "@keelson/kube/testing";

import { startOracle, type Oracle } from "./cluster.ts";
import { compare, describeDifference, type Difference } from "./compare.ts";
import { everyKind } from "./every-kind.ts";
import { collectionPath } from "./kinds/paths.ts";
import { oracleTest } from "./oracle-test.ts";
import { until } from "../tools/until.ts";

const resources = builtinResources(await loadBuiltinKinds());
const examples = await loadKindExamples();
const now = "2026-01-01T00:00:00Z";
const context = { now, uuid: () => "00000000-0000-0000-0000-000000000000" };
const namespace = "minimal";

/** The oracle with every kind that we serve. */
async function startComplete(signal: AbortSignal): Promise<Oracle> {
  const oracle = await startOracle({ flags: { "kube-apiserver": everyKind } }, signal);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await oracle.client.send({ method: "POST", path: "/api/v1/namespaces", body }, signal);
  return oracle;
}

function collectionOf(resource: Resource): string {
  return collectionPath(resource, resource.isNamespaced ? namespace : undefined);
}

/** The entries of our own managers, without their times: controllers write in between. */
function managers(object: JsonObject): Json {
  const { metadata } = object;
  const entries = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (!isJsonArray(entries)) return [];
  return entries
    .map((entry) => {
      const { time: _, ...rest } = entry as JsonObject;
      return rest;
    })
    .filter(({ manager }) => manager === "maker" || manager === "applier");
}

function versionOf(body: unknown): unknown {
  return (body as { metadata?: JsonObject }).metadata?.["resourceVersion"];
}

/** What the server gives an object besides what was sent, which nobody manages. */
function named(object: JsonObject, name: string): JsonObject {
  const { metadata, ...rest } = object;
  return { ...rest, metadata: { ...(metadata as JsonObject), name } };
}

oracleTest(
  "whoever creates or applies owns what the real server says, for every kind",
  async (t) => {
    await using oracle = await startComplete(t.signal);
    const differences: string[] = [];
    let compared = 0;
    const compareManagers = (title: string, theirs: JsonObject, ours: JsonObject): void => {
      compared += 1;
      for (const difference of compare(managers(theirs), managers(ours))) {
        differences.push(`${title} ${describeDifference(difference)}`);
      }
    };
    for (const resource of resources) {
      const { group, version, kind, model } = resource;
      const example = examples[`${group}/${version}/${kind}`];
      if (example === undefined || resource.storage === undefined) continue;
      const { name, generateName } = example.sent["metadata"] as JsonObject;
      if (typeof name !== "string" || generateName !== undefined) continue;
      const path = collectionOf(resource);
      const create = {
        method: "POST",
        path: `${path}?fieldManager=maker`,
        body: example.sent,
      } as const;
      const answer = await oracle.client.send(create, t.signal);
      assert.equal(answer.status, 201, answer.text);
      const live = answer.body as JsonObject;
      const { object } = model.read(example.sent, context);
      const ours = model.fieldManager("").update(undefined, object, { manager: "maker", now });
      compareManagers(`${kind} create`, live, ours);

      // Everything is sent to each endpoint; each takes what is its own.
      const { apiVersion, metadata: _, ...parts } = live;
      const config = {
        apiVersion: apiVersion ?? "",
        ...named({ ...parts, metadata: { labels: { a: "b" }, annotations: { c: "d" } } }, name),
      };
      const endpoints = ["", ...resource.subresources.map((one) => one.name)].filter((endpoint) =>
        ["", "status", "approval", "finalize", "resize", "ephemeralcontainers"].includes(endpoint),
      );
      for (const endpoint of endpoints) {
        const at = endpoint === "" ? name : `${name}/${endpoint}`;
        const apply = {
          method: "PATCH",
          path: `${path}/${at}?fieldManager=applier&force=true&dryRun=All`,
          headers: { "content-type": "application/apply-patch+yaml" },
          body: config,
        } as const;
        // Again, if somebody has written in between.
        const { before, applied } = await until(async () => {
          const read = await oracle.client.send({ path: `${path}/${name}` }, t.signal);
          const written = await oracle.client.send(apply, t.signal);
          const isSame = versionOf(read.body) === versionOf(written.body);
          return written.status !== 200 || isSame
            ? { before: read.body as JsonObject, applied: written }
            : undefined;
        }, t.signal);
        if (applied.status !== 200) continue;
        const result = model
          .fieldManager(endpoint)
          .apply(before, config, { manager: "applier", now, force: true });
        compareManagers(`${kind}/${endpoint} apply`, applied.body as JsonObject, result.object);
      }
      // Its name may be that of the same object in another shape.
      await oracle.client.send({ method: "DELETE", path: `${path}/${name}` }, t.signal);
    }
    t.diagnostic(`${compared} objects`);
    assert.ok(compared > 100, `only ${compared}`);
    assert.deepEqual(differences, []);
  },
);

const events: readonly JsonObject[] = [
  {
    involvedObject: { kind: "Pod", name: "p", namespace },
    reason: "R",
    message: "m",
    type: "Normal",
  },
  {
    involvedObject: { kind: "Pod", name: "p", namespace, uid: "u", apiVersion: "v1" },
    reason: "R",
    message: "m",
    type: "Warning",
    source: { component: "c", host: "h" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:01:00Z",
    count: 3,
    eventTime: "2026-01-01T00:00:00.000001Z",
    series: { count: 2, lastObservedTime: "2026-01-01T00:00:00.000002Z" },
    action: "a",
    related: { kind: "Node", name: "n" },
    reportingComponent: "example.com/r",
    reportingInstance: "i",
  },
];

oracleTest("an Event is shown in its other shape as the real server shows it", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await oracle.client.send({ method: "POST", path: "/api/v1/namespaces", body }, t.signal);
  const shape = resources.find(({ group, kind }) => group === "events.k8s.io" && kind === "Event");
  assert.ok(shape !== undefined);
  for (const [index, event] of events.entries()) {
    const metadata = { name: `e${index}`, namespace };
    const sent = { apiVersion: "v1", kind: "Event", metadata, ...event };
    const path = `/api/v1/namespaces/${namespace}/events`;
    const {
      status,
      text,
      body: core,
    } = await oracle.client.send({ method: "POST", path, body: sent }, t.signal);
    assert.equal(status, 201, text);
    const other = `/apis/events.k8s.io/v1/namespaces/${namespace}/events/e${index}`;
    const { body: shown } = await oracle.client.send({ path: other }, t.signal);
    const differences: Difference[] = [
      ...compare(shown as JsonObject, shape.model.fromStored(core as JsonObject)),
      ...compare(core as JsonObject, shape.model.toStored(cloneJson(shown as JsonObject))),
    ];
    assert.deepEqual(differences.map(describeDifference), []);
  }
});

oracleTest("versions that go are warned of in the words of the real server", async (t) => {
  await using oracle = await startComplete(t.signal);
  for (const resource of resources) {
    if (!resource.verbs.includes("list")) continue;
    const { warnings } = await oracle.client.send({ path: collectionOf(resource) }, t.signal);
    const expected = resource.deprecation === undefined ? [] : [resource.deprecation];
    assert.deepEqual(warnings, expected, resource.kind);
  }
});

const autoscalers: readonly JsonObject[] = [
  { maxReplicas: 3 },
  {
    minReplicas: 2,
    maxReplicas: 9,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
      {
        type: "Resource",
        resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
      },
      {
        type: "Pods",
        pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "10" } },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
  },
];

oracleTest("an autoscaler is shown in its older version as the real server shows it", async (t) => {
  await using oracle = await startOracle({}, t.signal);
  const older = resources.find(
    ({ kind, version }) => kind === "HorizontalPodAutoscaler" && version === "v1",
  );
  assert.ok(older !== undefined);
  for (const [index, fields] of autoscalers.entries()) {
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
    const body = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: `h${index}`, namespace: "default" },
      spec: { scaleTargetRef, ...fields },
    };
    const path = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const made = await oracle.client.send({ method: "POST", path: path("v2"), body }, t.signal);
    assert.equal(made.status, 201, made.text);
    const stored = made.body as JsonObject;
    const { body: shown } = await oracle.client.send({ path: `${path("v1")}/h${index}` }, t.signal);
    // Not the way back: the real server, too, moves the processor's metric to the end.
    const found = compare(shown as JsonObject, older.model.fromStored(stored));
    assert.deepEqual(found.map(describeDifference), []);
  }
});
