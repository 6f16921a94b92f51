import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";

import { Api } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const path = `${maps}/a`;
const merge = { "content-type": "application/merge-patch+json" };
const key = { kind: "ConfigMap", namespace: "default", name: "a" };

/** A server whose memory holds the object as it was before its last change, as if another replica had made that. */
async function forgetful(signal: AbortSignal) {
  const server = await startTestServer({}, signal);
  const api = new Api(server.url, signal);
  const metadata = { name: "a" };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1" } };
  await api.send("POST", maps, { body });
  const old = await server.store.get(key, signal);
  const { object } = await api.send("PATCH", path, { body: { data: { b: "2" } }, headers: merge });
  server.store.recall = () => old;
  const sent = (data: JsonObject, resourceVersion: string): JsonObject => ({
    ...body,
    metadata: { ...metadata, resourceVersion },
    data,
  });
  const { resourceVersion } = object["metadata"] as { readonly resourceVersion: string };
  const versions = { old: String(old.revision), now: resourceVersion };
  return { api, sent, versions, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

suite("an update where memory has an older state of the object", () => {
  test("keeps what it does not change", async (t) => {
    await using world = await forgetful(t.signal);
    const body = { data: { c: "3" } };
    const { code, object } = await world.api.send("PATCH", path, { body, headers: merge });
    assert.deepEqual([code, object["data"]], [200, { a: "1", b: "2", c: "3" }]);
  });

  test("is let through by the version that is stored, and refused by the one in memory", async (t) => {
    await using world = await forgetful(t.signal);
    const { api, sent, versions } = world;
    const refused = await api.send("PUT", path, { body: sent({ x: "y" }, versions.old) });
    assert.deepEqual([refused.code, refused.object["reason"]], [409, "Conflict"]);
    const { code, object } = await api.send("PUT", path, { body: sent({ x: "y" }, versions.now) });
    assert.deepEqual([code, object["data"]], [200, { x: "y" }]);
  });

  test("that changes nothing of what is stored writes nothing", async (t) => {
    await using world = await forgetful(t.signal);
    const body = { data: { b: "2" } };
    const { object } = await world.api.send("PATCH", path, { body, headers: merge });
    assert.equal(
      (object["metadata"] as { readonly resourceVersion: string }).resourceVersion,
      world.versions.now,
    );
  });

  test("does not bring back what has gone", async (t) => {
    await using world = await forgetful(t.signal);
    await world.api.send("DELETE", path);
    const { code } = await world.api.send("PATCH", path, {
      body: { data: { b: "3" } },
      headers: merge,
    });
    assert.equal(code, 404);
  });
});

suite("an update whose object goes before it is written", () => {
  for (const [what, send, code] of [
    ["by an apply makes it anew", (api: Api) => api.apply(path, applied, "m"), 201],
    ["by a patch finds nothing", (api: Api) => api.merge(path, { data: { b: "2" } }), 404],
  ] as const) {
    test(what, async (t) => {
      await using server = await startTestServer({}, t.signal);
      const { store } = server;
      const api = new Api(server.url, t.signal);
      await api.apply(path, { ...applied, data: { a: "0" } }, "m");
      store.recall = () => undefined; // As on a replica that has not read it yet.
      const update = store.update.bind(store);
      store.update = async (...args) => {
        if (args[0].name !== key.name) return await update(...args);
        store.update = update;
        await store.delete(key, {}, t.signal);
        return await update(...args);
      };
      const reply = await send(api);
      assert.equal(reply.code, code, reply.text);
      assert.equal((await api.get(path)).code, code === 201 ? 200 : 404);
    });
  }
});

suite("an apply whose object comes before it is written", () => {
  test("is an apply to that", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const { store } = server;
    const api = new Api(server.url, t.signal);
    const create = store.create.bind(store);
    store.create = async (...args) => {
      if (args[0].name !== key.name) return await create(...args);
      store.create = create;
      assert.equal((await api.apply(path, { ...applied, data: { b: "2" } }, "other")).code, 201);
      return await create(...args);
    };
    const { code, text } = await api.apply(path, applied, "m");
    assert.equal(code, 200, text);
    assert.deepEqual((await api.get(path)).object["data"], { a: "1", b: "2" });
  });
});

const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } };
