// Our client and caches before our own API server, over a network that is spoilt.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { startTestServer } from "@keelson/apiserver/testing";
import { fixedCredentials, isNotFound } from "@keelson/client";

import { assertLevel, clientOf, configMap, configMapKind, follow } from "../oracle/client/bed.ts";
import { TcpProxy } from "../oracle/tcp-proxy.ts";
import { until } from "../oracle/until.ts";

suite("our client before our server", () => {
  test("a cache equals a list, through cuts, and requests mean the same as elsewhere", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const port = Number(new URL(server.url).port);
    await using proxy = await TcpProxy.to(port);
    const at = (port: number) => ({
      server: `http://127.0.0.1:${port}`,
      credentials: fixedCredentials({}),
    });
    await using near = clientOf(at(port));
    await using far = clientOf(at(proxy.port));
    const maps = await near.resource(configMapKind, t.signal);
    const { resource } = maps;
    await using followed = follow(far, { resource });
    for (let i = 0; i < 50; i++) await maps.create(configMap(`object-${i}`, {}), {}, t.signal);
    await assertLevel(followed.cache, { client: near, resource }, t.signal);
    for (let round = 0; round < 3; round++) {
      proxy.cut();
      const name = `object-${round}`;
      await maps.apply(configMap(name, { round: `${round}` }), { fieldManager: "me" }, t.signal);
      await maps.delete({ namespace: "default", name: `object-${round + 10}` }, t.signal);
      await assertLevel(followed.cache, { client: near, resource }, t.signal);
    }
    const gone = { namespace: "default", name: "object-10" };
    await assert.rejects(maps.get(gone, t.signal), isNotFound);
    await until(() => followed.cache.get(gone) === undefined, t.signal);
    const made = await maps.get({ namespace: "default", name: "object-20" }, t.signal);
    const held = await maps.addFinalizer(made, "keelson.dev/test", t.signal);
    const ref = { namespace: "default", name: "object-20" };
    assert.notEqual((await maps.delete(ref, t.signal))?.metadata.deletionTimestamp, undefined);
    assert.equal(await maps.removeFinalizer(held, "keelson.dev/test", t.signal), undefined);
    await assertLevel(followed.cache, { client: near, resource }, t.signal);
  });
});
