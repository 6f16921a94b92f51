import assert from "node:assert/strict";
import { test } from "node:test";

import { Api, startTestServer } from "@keelson/apiserver/testing";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingMetrics, until } from "@keelson/base/testing";
import { Client, fixedCredentials } from "@keelson/client";

import { controllerMetrics } from "../metrics.ts";
import { Caches } from "./caches.ts";

test("the caches of a kind add up in its metrics, and one that is dropped takes its share back", async (t) => {
  await using server = await startTestServer({}, t.signal);
  const api = new Api(server.url, t.signal);
  for (const [name, colour] of [
    ["a", "red"],
    ["b", "blue"],
    ["c", "blue"],
  ] as const) {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { colour } } };
    assert.equal((await api.create("/api/v1/namespaces/default/configmaps", object)).code, 201);
  }
  await using client = new Client({
    access: { server: server.url, credentials: fixedCredentials({}) },
  });
  const recorded = new RecordingMetrics();
  const metrics = controllerMetrics(recorded);
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, metrics };
  const caches = new Caches({ client, ...parts }, t.signal);
  await using _undo = caches;
  const figures = (): readonly (number | undefined)[] =>
    ["caches", "cache_live", "cached_objects"].map((figure) =>
      recorded.value(`keelson_controller_${figure}`, { kind: "ConfigMap" }),
    );
  const come = (wanted: readonly number[]): Promise<void> =>
    until(async () => figures().join() === wanted.join(), `${wanted.join()} are counted`);

  const kind = { apiVersion: "v1", kind: "ConfigMap" };
  const selection = { namespace: "default" };
  caches.of(kind, { ...selection, labelSelector: "colour=red" });
  const coloured = caches.of(kind, { ...selection, labelSelector: "colour" });
  await come([2, 2, 4]);
  assert.equal((await api.delete("/api/v1/namespaces/default/configmaps/a")).code, 200);
  await come([2, 2, 2]);
  caches.drop(coloured);
  await come([1, 1, 0]);
  await caches[Symbol.asyncDispose]();
  assert.deepEqual(figures(), [0, 0, 0]);
});
