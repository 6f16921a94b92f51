// A controller-runtime manager, the same program against CRDs in a real cluster and against ours behind one: the same end.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { Commands } from "../apiserver/walks/commands.ts";
import type { HttpClient } from "../tools/http-client.ts";
import { startOracle, type Oracle } from "../oracle/cluster.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import { expectStatus } from "./asking.ts";
import { startBed } from "./bed.ts";
import { establishDefinitions } from "./definitions.ts";
import { pathOf } from "./objects.ts";

const namespace = "managed";
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const merge = { "content-type": "application/merge-patch+json" };
const apiVersion = "ark.mckinsey.com/v1alpha1";

suite("a controller-runtime manager", () => {
  oracleTest("ends at the same state with CRDs and with ours", async (t) => {
    const { signal } = t;
    await using oracle = await startOracle({}, signal);
    await using bed = await startBed({ driver: "sqlite" }, signal);
    await establishDefinitions(oracle, signal);
    const [withDefinitions, withOurs] = await Promise.all([
      play(oracle, signal),
      play(bed.oracle, signal),
    ]);
    assert.equal(withDefinitions.length, 1 + 3 + 14 + 14);
    assert.deepEqual(withOurs, withDefinitions);
  });
});

/** Runs the story and answers how it ends. */
async function play(cluster: Oracle, signal: AbortSignal): Promise<readonly unknown[]> {
  const { client } = cluster;
  const post = async (path: string, body: object): Promise<void> =>
    void (await expectStatus(client, { method: "POST", path, body }, 201, signal));
  await post("/api/v1/namespaces", { metadata: { name: namespace } });
  const commands = new Commands(cluster);
  // Whoever loses its lease ends: a machine that stands still for seconds must not take it. Who is told to end gives it back.
  const flags = [`-cluster=${cluster.kubeconfig}`, `-namespace=${namespace}`, "-lease=40s"];
  await using first = commands.start("ark-manager", flags, signal);
  await first.until(/^leading$/);

  await post(pathOf("models", namespace), model);
  for (const name of ["a", "b", "c"]) await post(pathOf("agents", namespace), agent(name));
  const names = Array.from({ length: 18 }, (_, n) => `q-${n}`);
  for (const [n, name] of names.entries()) {
    await post(pathOf("queries", namespace), query(name, "abc"[n % 3] ?? "a"));
  }
  // Somebody else writes at the same time: the manager's writes meet conflicts.
  const meddling = meddle(client, names, signal);
  await untilDone(client, names, signal);
  await meddling;

  for (const name of names.slice(0, 4)) {
    await expectStatus(
      client,
      { method: "DELETE", path: pathOf("queries", namespace, name) },
      200,
      signal,
    );
  }
  await using second = commands.start("ark-manager", flags, signal);
  await untilGone(client, names.slice(0, 4), signal);
  first.kill("SIGTERM");
  await second.until(/^leading$/);
  // The next leader goes on: a change of a spec is seen, a new one is served, one that goes is let go.
  const changed = { spec: { description: "changed" } };
  const path = pathOf("agents", namespace, "b");
  await expectStatus(client, { method: "PATCH", path, body: changed, headers: merge }, 200, signal);
  await post(pathOf("queries", namespace), query("late", "b"));
  await expectStatus(
    client,
    { method: "DELETE", path: pathOf("queries", namespace, "q-17") },
    200,
    signal,
  );
  await untilGone(client, ["q-17"], signal);
  const left = [...names.slice(4, 17), "late"];
  await untilDone(client, left, signal);
  await until(async () => {
    const { body } = await client.send({ path }, signal);
    const { status } = body as { status?: { conditions?: { observedGeneration: number }[] } };
    return status?.conditions?.[0]?.observedGeneration === 2;
  }, signal);
  return await endOf(client, signal);
}

async function meddle(
  client: HttpClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    for (const name of names) {
      const body = { metadata: { annotations: { "keelson.dev/round": String(round) } } };
      const path = pathOf("queries", namespace, name);
      await expectStatus(client, { method: "PATCH", path, body, headers: merge }, 200, signal);
    }
  }
}

async function untilDone(
  client: HttpClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await until(async () => {
    const { body } = await expectStatus(
      client,
      { path: pathOf("queries", namespace) },
      200,
      signal,
    );
    const { items } = body as { items: readonly Item[] };
    return names.every((name) => {
      const found = items.find(({ metadata }) => metadata["name"] === name);
      return found?.status?.["phase"] === "done";
    });
  }, signal);
}

async function untilGone(
  client: HttpClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await until(async () => {
    for (const name of names) {
      const { status } = await client.send({ path: pathOf("queries", namespace, name) }, signal);
      if (status !== 404) return false;
    }
    return true;
  }, signal);
}

/** Every object, without what differs from run to run: uids, versions, times, and who wrote when. */
async function endOf(client: HttpClient, signal: AbortSignal): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const path of [
    pathOf("models", namespace),
    pathOf("agents", namespace),
    pathOf("queries", namespace),
    configMaps,
  ]) {
    const { body } = await expectStatus(client, { path }, 200, signal);
    for (const item of (body as { items: readonly Item[] }).items) {
      const { metadata, ...rest } = item;
      const {
        uid: _u,
        resourceVersion: _r,
        creationTimestamp: _c,
        managedFields,
        ...kept
      } = metadata;
      all.push({ ...rest, metadata: { ...kept, managers: managersOf(managedFields) } });
    }
  }
  return JSON.parse(
    JSON.stringify(all, (key, value: unknown) =>
      key === "lastTransitionTime" ? "a time" : key === "uid" ? "a uid" : value,
    ),
  ) as unknown[];
}

/** Who manages which fields. Owners are known there by their uids. */
function managersOf(entries: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    (entries as readonly Record<string, unknown>[]).map(
      ({ manager, operation, subresource = "", fieldsV1 }) => {
        const text = JSON.stringify(fieldsV1).replaceAll(/\\"uid\\":\\"[^"]*\\"/g, "uid");
        return [[manager, operation, subresource].join(" "), JSON.parse(text) as unknown];
      },
    ),
  );
}

interface Item {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const model = {
  apiVersion,
  kind: "Model",
  metadata: { name: "default" },
  spec: {
    model: { value: "m" },
    type: "completions",
    provider: "openai",
    config: {
      openai: { baseUrl: { value: "https://models.example.com/v1" }, apiKey: { value: "k" } },
    },
  },
};

function agent(name: string): object {
  const spec = { prompt: "p", modelRef: { name: "default" } };
  return { apiVersion, kind: "Agent", metadata: { name }, spec };
}

/** Whatever a server with rules would fill in is said. */
function query(name: string, target: string): object {
  return {
    apiVersion,
    kind: "Query",
    metadata: { name, labels: { target } },
    spec: { input: `question ${name}`, target: { type: "agent", name: target }, ttl: "720h" },
  };
}
