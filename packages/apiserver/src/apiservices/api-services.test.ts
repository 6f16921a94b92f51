import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemClock, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { SqliteBackend, Store } from "@keelson/store";

import { arkResources } from "../ark/ark-kinds.ts";
import { Api, meta } from "../testing/api.ts";
import { apiServices, apiServicesSettled, apiServiceVersions } from "../testing/api-services.ts";
import { definition, definitions, serve } from "../testing/definitions.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

function remote(group: string, service: JsonObject): JsonObject {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: "v1",
      groupPriorityMinimum: 1_000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service,
    },
  };
}

suite("APIServices", () => {
  test("are one for each version that is served, ours and definitions' too; a restart writes none", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    const limits = { compactionEveryMs: undefined };
    await using store = await Store.open({ backend, limits }, t.signal);
    const resources = arkResources();
    const start = (): Promise<TestServer> => startTestServer({ store, resources }, t.signal);
    let before: Readonly<Record<string, string>> = {};
    {
      await using server = await start();
      const api = new Api(server.url, t.signal);
      await serve(api, definition("widgets", "Widget"));
      await apiServicesSettled(api);
      before = await apiServiceVersions(api);
      assert.ok("v1.example.com" in before && "v1alpha1.ark.mckinsey.com" in before);
    }
    await using server = await start();
    const api = new Api(server.url, t.signal);
    // What comes last tells that all the rest was looked at.
    await serve(api, { ...definition("gadgets", "Gadget"), ...elsewhere });
    await apiServicesSettled(api);
    const { "v1.other.example": _, ...after } = await apiServiceVersions(api);
    assert.deepEqual(after, before);
    await api.delete(`${definitions}/widgets.example.com`);
    await apiServicesSettled(api);
    assert.ok(!("v1.example.com" in (await apiServiceVersions(api))));
  });

  test("that somebody changed are mended, and those of others are theirs", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await apiServicesSettled(api);
    const own = {
      ...remote("mine.example", {}),
      spec: { group: "mine.example", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
    };
    const created = await api.create(apiServices, own);
    assert.equal(created.code, 201, created.text);
    await api.merge(`${apiServices}/v1.apps`, { spec: { versionPriority: 99 } });
    await api.delete(`${apiServices}/v1.batch`);
    const priorityOf = async (name: string): Promise<unknown> =>
      ((await api.get(`${apiServices}/${name}`)).object["spec"] as JsonObject | undefined)?.[
        "versionPriority"
      ];
    await until(async () => (await priorityOf("v1.apps")) === 15, "the priority is back");
    await until(async () => (await priorityOf("v1.batch")) === 15, "the APIService is back");
    const { object } = await api.get(`${apiServices}/v1.mine.example`);
    assert.equal(meta({ object }, "resourceVersion"), meta(created, "resourceVersion"));
  });

  test("KB 59 that lead elsewhere are stale and unavailable, and take nothing from who is served here", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await apiServicesSettled(api);
    const conditionOf = async (name: string): Promise<string> => {
      const { status = {} } = (await api.get(`${apiServices}/${name}`)).object as {
        status?: { conditions?: { status: string; reason: string }[] };
      };
      return (status.conditions ?? []).map((one) => `${one.status} ${one.reason}`).join();
    };
    const is = (name: string, wanted: string) => async (): Promise<boolean> =>
      (await conditionOf(name)) === wanted;
    await api.create(apiServices, remote("dead.example", { namespace: "default", name: "gone" }));
    await api.create(
      apiServices,
      remote("deaf.example", { namespace: "default", name: "kubernetes" }),
    );
    await until(is("v1.dead.example", "False ServiceNotFound"), "it is not found");
    await until(is("v1.deaf.example", "False FailedDiscoveryCheck"), "nobody asks it");
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const all = async (): Promise<readonly JsonObject[]> => {
      const { items } = (await api.send("GET", "/apis", { headers: { accept } })).object as {
        items: JsonObject[];
      };
      return items;
    };
    const stale = (await all()).filter((group) => JSON.stringify(group).includes('"Stale"'));
    assert.deepEqual(
      stale,
      ["dead.example", "deaf.example"].map((name) => ({
        metadata: { name },
        versions: [{ version: "v1", freshness: "Stale" }],
      })),
    );
    const things = await api.get("/apis/dead.example/v1/things");
    assert.deepEqual([things.code, things.text], [503, "service unavailable\n"]);

    // Who defines the kinds of such a version serves them.
    await serve(api, { ...definition("gadgets", "Gadget"), ...definedIn("dead.example") });
    assert.equal((await api.get("/apis/dead.example/v1/gadgets")).code, 200);
    await api.delete(`${apiServices}/v1.deaf.example`);
    await until(async () => (await api.get("/apis/deaf.example/v1")).code === 404, "it is gone");
    assert.ok(!JSON.stringify(await all()).includes('"Stale"'));
  });
});

/** The same definition in another group. */
function definedIn(group: string): JsonObject {
  const { spec } = definition("gadgets", "Gadget") as { spec: JsonObject };
  return { metadata: { name: `gadgets.${group}` }, spec: { ...spec, group } };
}

const elsewhere = definedIn("other.example");
