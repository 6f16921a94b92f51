import assert from "node:assert/strict";
import { test } from "node:test";

import { systemClock, type Json } from "@keelson/base";
import { SqliteBackend, Store } from "@keelson/store";

import { notReadyKey } from "../admission/small-defaults.ts";
import { Api } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

test("a node is there while workloads are simulated, and none that would take the pods of real controllers", async (t) => {
  for (const simulatesWorkloads of [true, false]) {
    await using server = await startTestServer({ simulatesWorkloads }, t.signal);
    const api = new Api(server.url, t.signal);
    const { items } = (await api.get("/api/v1/nodes")).object as unknown as { items: Node[] };
    const found = items.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      // KB §2.1: schedulable, untainted, ready, and with room.
      isFree: spec?.unschedulable !== true && (spec?.taints ?? []).length === 0,
      isReady: status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
      pods: status.allocatable["pods"],
    }));
    const one = { name: "keelson", isFree: true, isReady: true, pods: "1k" };
    assert.deepEqual(found, simulatesWorkloads ? [one] : []);
  }
});

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Json[] };
  readonly status: {
    readonly allocatable: Readonly<Record<string, string>>;
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

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
