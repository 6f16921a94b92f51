import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { Api } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function definition(plural: string, kind: string, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: { type: "object", properties: { replicas: { type: "integer", default: 1 } } },
                status: { type: "object", properties: { replicas: { type: "integer" } } },
              },
            },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          ...more,
        },
      ],
    },
  };
}

const widgets = "/apis/example.com/v1/namespaces/default/widgets";
const widget = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...more },
  spec: {},
});

async function conditionsOf(api: Api, name: string): Promise<Readonly<Record<string, string>>> {
  const { status = {} } = (await api.get(`${definitions}/${name}`)).object as {
    status?: { conditions?: { type: string; status: string }[] };
  };
  return Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
}

suite("custom resource definitions", () => {
  test("are served within a second, scale and all, and their objects go with them", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const began = performance.now();
    assert.equal((await api.create(definitions, definition("widgets", "Widget"))).code, 201);
    await until(async () => (await api.get(widgets)).code === 200, "it is served");
    assert.ok(performance.now() - began < 10_000);
    assert.deepEqual((await api.create(widgets, widget("a"))).object["spec"], { replicas: 1 });
    await api.merge(`${widgets}/a/status`, { status: { replicas: 1 } });
    const scaled = await api.merge(`${widgets}/a/scale`, { spec: { replicas: 3 } });
    assert.deepEqual(
      [scaled.code, scaled.object["kind"], scaled.object["spec"], scaled.object["status"]],
      [200, "Scale", { replicas: 3 }, { replicas: 1 }],
    );
    assert.deepEqual((await api.get(`${widgets}/a`)).object["spec"], { replicas: 3 });

    await api.create(widgets, widget("held", { finalizers: ["example.com/hold"] }));
    await api.delete(`${definitions}/widgets.example.com`);
    await until(async () => (await api.get(`${widgets}/a`)).code === 404, "its objects go");
    assert.deepEqual((await conditionsOf(api, "widgets.example.com"))["Terminating"], "True");
    const late = await api.create(widgets, widget("late"));
    assert.deepEqual(
      [late.code, late.object["message"]],
      [
        403,
        'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
      ],
    );
    const freed = await api.merge(`${widgets}/held`, { metadata: { finalizers: null } });
    assert.equal(freed.code, 200, freed.text);
    await until(
      async () => (await api.get(`${definitions}/widgets.example.com`)).code === 404,
      "the definition is gone",
    );
    await until(async () => (await api.get(widgets)).code === 404, "it is no longer served");
  });

  test("that want a name of another wait until it is free", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const is = (name: string, type: string, status: string) => (): Promise<boolean> =>
      conditionsOf(api, name).then((conditions) => conditions[type] === status);
    await api.create(definitions, definition("widgets", "Widget"));
    await until(is("widgets.example.com", "Established", "True"), "the first is established");
    await api.create(definitions, definition("gadgets", "Widget"));
    await until(is("gadgets.example.com", "NamesAccepted", "False"), "the second waits");
    assert.equal((await api.get("/apis/example.com/v1/gadgets")).code, 404);
    await api.delete(`${definitions}/widgets.example.com`);
    await until(is("gadgets.example.com", "Established", "True"), "the second is established");
    assert.equal((await api.get("/apis/example.com/v1/gadgets")).code, 200);
  });
});
