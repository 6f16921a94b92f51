import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { Api, messageOf, meta } from "../testing/api.ts";
import { core } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

const pods = core("default", "pods");
const pod = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i" }], ...more },
});

suite("subresources", () => {
  test("bind a pod to a node, once", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await api.create(pods, pod("a"));
    const binding = (node: string): JsonObject => ({
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "a" },
      target: { apiVersion: "v1", kind: "Node", name: node },
    });
    const bound = await api.create(`${pods}/a/binding`, binding("one"));
    assert.deepEqual([bound.code, bound.object["status"]], [201, "Success"]);
    const again = await api.create(`${pods}/a/binding`, binding("two"));
    assert.equal(again.code, 409);
    const { spec, status } = (await api.get(`${pods}/a`)).object as {
      spec: { nodeName: string };
      status: { conditions: { type: string; status: string }[] };
    };
    assert.equal(spec.nodeName, "one");
    assert.ok(
      status.conditions.some((one) => one.type === "PodScheduled" && one.status === "True"),
    );
  });

  test("evict as far as a budget allows, and no further at once", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    for (const name of ["a", "b", "c"]) {
      await api.create(pods, pod(name, { nodeName: "node" }));
      const conditions = [{ type: "Ready", status: "True" }];
      await api.merge(`${pods}/${name}/status`, { status: { phase: "Running", conditions } });
    }
    await api.create(budgets, {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "budget" },
      spec: { minAvailable: 2, selector: { matchLabels: { app: "a" } } },
    });
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
    };
    await api.merge(`${budgets}/budget/status`, { status });
    const evict = (name: string) =>
      api.create(`${pods}/${name}/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
      });
    const outcomes = await Promise.all(["a", "b", "c"].map(evict));
    assert.deepEqual(
      outcomes.map(({ code }) => code).toSorted((a, b) => a - b),
      [201, 429, 429],
    );
    const refused = outcomes.find(({ code }) => code === 429);
    assert.match(messageOf(refused ?? { object: {} }), /would violate the pod's disruption budget/);
    const { object } = await api.get(`${budgets}/budget`);
    assert.equal((object["status"] as JsonObject)["disruptionsAllowed"], 0);
  });

  test("scale by the parent's revision and uid (KB 58)", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const template = { metadata: { labels: { app: "a" } }, spec: pod("a")["spec"] ?? {} };
    const created = await api.create(deployments, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { app: "a" } }, template },
    });
    const scale = await api.get(`${deployments}/d/scale`);
    assert.deepEqual(
      [meta(scale, "uid"), meta(scale, "resourceVersion"), scale.object["spec"]],
      [meta(created, "uid"), meta(created, "resourceVersion"), { replicas: 1 }],
    );
    const scaled = await api.update(`${deployments}/d/scale`, {
      ...scale.object,
      spec: { replicas: 4 },
    });
    assert.deepEqual([scaled.code, scaled.object["spec"]], [200, { replicas: 4 }]);
    const stale = await api.update(`${deployments}/d/scale`, {
      ...scale.object,
      spec: { replicas: 5 },
    });
    assert.equal(stale.code, 409);
    const { metadata: _, ...rest } = scale.object;
    const free = { ...rest, metadata: { name: "d", namespace: "default" }, spec: { replicas: 0 } };
    assert.equal((await api.update(`${deployments}/d/scale`, free)).code, 200);
    const { object } = await api.get(`${deployments}/d`);
    assert.deepEqual(
      [(object["spec"] as JsonObject)["replicas"], meta({ object }, "generation")],
      [0, "3"],
    );
  });
});
