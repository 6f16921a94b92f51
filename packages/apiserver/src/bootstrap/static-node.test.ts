import assert from "node:assert/strict";
import { test } from "node:test";

import { systemClock, type Json } from "@keelson/base";
import { SqliteBackend, Store } from "@keelson/store";

import { notReadyKey } from "../admission/small-defaults.ts";
import { Api } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

test("a start makes the node ready, and leaves the taints that others gave it", async (t) => {
  const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
  await using store = await Store.open({ backend }, t.signal);
  const path = "/api/v1/nodes/keelson";
  /** The taints after a start, which others then replace. */
  const startWith = async (taints: readonly Json[]): Promise<Json | undefined> => {
    await using server = await startTestServer({ store, simulatesWorkloads: true }, t.signal);
    const api = new Api(server.url, t.signal);
    const { spec = {} } = (await api.get(path)).object as { spec?: { taints?: Json } };
    const { code, text } = await api.merge(path, { spec: { taints } });
    assert.equal(code, 200, text);
    return spec.taints;
  };
  const dedicated = { key: "dedicated", value: "me", effect: "NoSchedule" };
  assert.equal(await startWith([dedicated]), undefined);
  const notReady = { key: notReadyKey, effect: "NoSchedule" };
  assert.deepEqual(await startWith([notReady, dedicated]), [dedicated]);
  assert.deepEqual(await startWith([notReady]), [dedicated]);
  assert.equal(await startWith([]), undefined);
});
