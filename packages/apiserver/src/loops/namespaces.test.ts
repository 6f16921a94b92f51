import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { Api, meta } from "../testing/api.ts";
import { configMap, core } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

const namespaces = "/api/v1/namespaces";
const namespace = (name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, ...metadata },
});

suite("namespaces", () => {
  test("that are deleted are emptied, and say what holds them (KB 75)", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await api.create(namespaces, namespace("demo"));
    const maps = core("demo", "configmaps");
    await api.create(maps, configMap("goes"));
    await api.create(maps, configMap("held", { metadata: { finalizers: ["example.com/hold"] } }));
    const deleted = await api.delete(`${namespaces}/demo`);
    assert.deepEqual(
      [deleted.code, (deleted.object["status"] as JsonObject)["phase"]],
      [200, "Terminating"],
    );
    interface Condition {
      readonly type: string;
      readonly status: string;
      readonly message: string;
    }
    const conditions = async (): Promise<readonly Condition[]> => {
      const { status } = (await api.get(`${namespaces}/demo`)).object as {
        status?: { conditions?: Condition[] };
      };
      return status?.conditions ?? [];
    };
    await until(async () => (await conditions()).length === 5, "it says why it waits");
    await until(async () => (await api.get(`${maps}/goes`)).code === 404, "it is emptied");
    const told = new Map((await conditions()).map(({ type, status }) => [type, status]));
    assert.deepEqual(Object.fromEntries(told), {
      NamespaceDeletionDiscoveryFailure: "False",
      NamespaceDeletionGroupVersionParsingFailure: "False",
      NamespaceDeletionContentFailure: "False",
      NamespaceContentRemaining: "True",
      NamespaceFinalizersRemaining: "True",
    });
    const remaining = (await conditions()).find(
      ({ type }) => type === "NamespaceFinalizersRemaining",
    );
    assert.equal(
      remaining?.message,
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    );
    const again = await api.delete(`${namespaces}/demo`);
    assert.ok([200, 409].includes(again.code));
    await api.merge(`${maps}/held`, { metadata: { finalizers: null } });
    await until(async () => (await api.get(`${namespaces}/demo`)).code === 404, "it is gone");
    assert.equal((await api.create(namespaces, namespace("demo"))).code, 201);
  });

  test("wait for finalizers of their own, in spec and in metadata", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await api.create(namespaces, namespace("held", { finalizers: ["example.com/hold"] }));
    await api.delete(`${namespaces}/held`);
    await until(async () => {
      const { spec } = (await api.get(`${namespaces}/held`)).object as { spec?: JsonObject };
      return spec?.["finalizers"] === undefined;
    }, "our own finalizer is gone");
    assert.equal((await api.get(`${namespaces}/held`)).code, 200);
    await api.merge(`${namespaces}/held`, { metadata: { finalizers: null } });
    await until(async () => (await api.get(`${namespaces}/held`)).code === 404, "it is gone");
  });

  test("that every cluster has cannot be deleted", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const refused = await api.delete(`${namespaces}/default`);
    assert.deepEqual(
      [refused.code, refused.object["message"]],
      [403, 'namespaces "default" is forbidden: this namespace may not be deleted'],
    );
  });

  test("have an account and a certificate, which come back (KB §2.1)", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    await api.create(namespaces, namespace("demo"));
    const account = `${core("demo", "serviceaccounts")}/default`;
    const map = `${core("demo", "configmaps")}/kube-root-ca.crt`;
    const isThere = (path: string) => async (): Promise<boolean> =>
      (await api.get(path)).code === 200;
    await until(isThere(account), "the account");
    await until(isThere(map), "the certificate");
    const uid = meta(await api.get(account), "uid");
    await api.delete(account);
    await until(async () => {
      const found = await api.get(account);
      return found.code === 200 && meta(found, "uid") !== uid;
    }, "another account");
    await api.merge(map, { data: { "ca.crt": "tampered" } });
    await until(async () => {
      const { data } = (await api.get(map)).object as { data?: JsonObject };
      return data?.["ca.crt"] === "";
    }, "the certificate is right again");
  });
});
