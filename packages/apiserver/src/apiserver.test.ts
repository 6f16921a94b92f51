import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom, TaskScope } from "@keelson/base";
import { RecordingMetrics, until } from "@keelson/base/testing";
import { SqliteBackend, Store } from "@keelson/store";

import { ApiServer } from "./apiserver.ts";
import { mastersGroup } from "./auth/user.ts";
import { Workloads } from "./loops/workloads/workloads.ts";
import type { Objects } from "./objects.ts";
import { Api } from "./testing/api.ts";

const parts = { clock: systemClock, random: systemRandom, log: silentLog };
const user = { name: "tester", uid: "", groups: [mastersGroup], extra: {} };

function start(store: Store, metrics: RecordingMetrics, signal: AbortSignal): Promise<ApiServer> {
  return ApiServer.start(
    {
      ...parts,
      store,
      metrics,
      identity: () => ({ authenticator: { authenticate: () => ({ user }) } }),
      rootCertificate: "",
      tls: undefined,
      simulatesWorkloads: false,
    },
    signal,
  );
}

async function openStore(signal: AbortSignal): Promise<Store> {
  const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
  return await Store.open({ backend }, signal);
}

suite("API server", () => {
  test("a start that is broken off ends, although the store cannot be read", async (t) => {
    const store = await openStore(t.signal);
    await store[Symbol.asyncDispose](); // Every watch is refused from here on, and tried again.
    const stop = new AbortController();
    const starting = start(store, new RecordingMetrics(), stop.signal);
    const ended = assert.rejects(starting, { message: "enough" });
    stop.abort(new Error("enough"));
    await ended;
  });

  test("workloads that lose their turn before they could be read let go of it", async (t) => {
    const store = await openStore(t.signal);
    await store[Symbol.asyncDispose]();
    const stop = new AbortController();
    await using scope = new TaskScope(stop.signal);
    const objects = {} as Objects; // Nothing is looked at before everything is there.
    const running = new Workloads({ ...parts, store, objects, scope }).run(stop.signal);
    const ended = assert.rejects(running, { message: "enough" });
    stop.abort(new Error("enough"));
    await ended;
  });

  test("requests are counted while they are being answered, and no longer", async (t) => {
    await using store = await openStore(t.signal);
    const metrics = new RecordingMetrics();
    await using server = await start(store, metrics, t.signal);
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    const api = new Api(`http://127.0.0.1:${port}`, t.signal);
    assert.equal((await api.get("/api/v1/namespaces")).code, 200);
    await until(
      async () => metrics.value("apiserver_current_inflight_requests") === 0,
      "nobody is being answered",
    );
  });
});
