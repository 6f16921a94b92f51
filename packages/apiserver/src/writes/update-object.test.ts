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
