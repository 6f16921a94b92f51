// Objects nested as deeply as a body may be: what is added to one, its managed fields above all, goes deeper.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemClock, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec } from "@keelson/kube";
import { SqliteBackend, Store } from "@keelson/store";

import { Api, messageOf } from "../testing/api.ts";
import { definition, serve } from "../testing/definitions.ts";
import { startTestServer } from "../testing/test-server.ts";

const opens = "/apis/example.com/v1/namespaces/default/opens";

const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";

/** Objects inside each other, so many. */
function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

function open(name: string, spec: Json): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Open", metadata: { name }, spec };
}

suite("deep objects", () => {
  test("are read from the database, listed, changed and deleted like any other", async (t) => {
    // Nothing is kept in memory: everything is read as after a restart.
    const limits = { cacheBytesMax: 0, recentChangesMax: 0 };
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    const log = silentLog;
    await using store = await Store.open({ backend, clock: systemClock, log, limits }, t.signal);
    await using server = await startTestServer({ store }, t.signal);
    const api = new Api(server.url, t.signal);
    const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await serve(
      api,
      definition("opens", "Open", { schema: { openAPIV3Schema }, subresources: {} }),
    );

    const spec = nested(511);
    const created = await api.create(opens, open("deep", spec));
    assert.equal(created.code, 201, created.text.slice(0, 300));
    const got = await api.get(`${opens}/deep`);
    assert.deepEqual([got.code, got.object], [200, created.object]);
    const listed = await api.get(opens);
    assert.deepEqual([listed.code, (listed.object["items"] as Json[]).length], [200, 1]);
    using watch = await api.watch(`${opens}?watch=1`);
    assert.deepEqual((await watch.next())?.object["spec"], spec);
    const labels = { metadata: { labels: { a: "b" } } };
    assert.equal((await api.merge(`${opens}/deep`, labels)).code, 200);
    const json = { "content-type": "application/json-patch+json" };
    const annotate = [{ op: "add", path: "/metadata/annotations", value: { a: "b" } }];
    const patched = await api.send("PATCH", `${opens}/deep`, { body: annotate, headers: json });
    assert.equal(patched.code, 200, patched.text.slice(0, 300));
    // Nothing is moved deeper than a body may be.
    const move = [
      { op: "add", path: "/spec/b", value: { c: {} } },
      { op: "move", from: "/spec/a", path: "/spec/b/c/a" },
    ];
    const moved = await api.send("PATCH", `${opens}/deep`, { body: move, headers: json });
    assert.deepEqual([moved.code, messageOf(moved)], [400, "exceeded max depth of 512"]);
    assert.equal((await api.send("DELETE", `${opens}/deep`)).code, 200);

    assert.equal((await api.create(opens, open("deeper", nested(512)))).code, 400);
  });

  test("are no deeper in protobuf than in JSON", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const codec = new ProtobufCodec(await loadBuiltinKinds());
    const create = async (metadata: JsonObject, data: Json): Promise<readonly unknown[]> => {
      const revision = { apiVersion: "apps/v1", kind: "ControllerRevision", revision: 1 };
      const { code, object } = await api.send("POST", revisions, {
        body: codec.encode({ ...revision, metadata, data }),
        headers: {
          "content-type": "application/vnd.kubernetes.protobuf",
          accept: "application/json",
        },
      });
      return [code, object["message"]];
    };
    assert.deepEqual(await create({ name: "deep" }, nested(511)), [201, undefined]);
    const managed = { manager: "m", operation: "Update", fieldsV1: nested(511) };
    assert.deepEqual(await create({ name: "deeper", managedFields: [managed] }, null), [
      400,
      "exceeded max depth of 512",
    ]);
  });
});
