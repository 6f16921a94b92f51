// A worker that may not watch throughout its cluster (4.3): it watches namespace by namespace, those that rows name.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../tools/until.ts";
import { startBed, synced, web } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";
import { refusal } from "../tools/http-proxy.ts";

const skip = isOracle ? "the answers are the proxy's, whoever is behind it" : false;

suite("watching namespace by namespace", { skip }, () => {
  test("what is forbidden throughout the cluster is watched where rows are, also where rows come later", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    const { http } = it;
    assert.ok(http !== undefined);
    const forbidden = refusal(403, "Forbidden", "configmaps is forbidden at the cluster scope");
    http.intercept = ({ path }) => (path === "/api/v1/configmaps" ? forbidden : undefined);
    it.startWorker();
    const maps = await it.configMaps();
    const namespaces = ["default", "early", "late"];
    /** Its row is delivered and seen; then its object is changed, and later deleted, and both are put right. */
    const isLookedAfter = async (namespace: string): Promise<void> => {
      const id = await it.create({ ...web, namespace });
      const first = await it.becomes(id, synced);
      const ref = { namespace, name: "web" };
      await maps.patch(ref, { type: "merge", body: { data: { a: "changed" } } }, t.signal);
      await until(async () => {
        const { data } = (await maps.get(ref, t.signal)) as unknown as { data: { a: string } };
        return data.a === "1";
      }, t.signal);
      await maps.delete(ref, t.signal);
      await it.becomes(id, (body) => synced(body) && body.current.uid !== first.current.uid);
    };
    for (const name of namespaces.slice(1)) {
      const row = { cluster_id: "prod", kind: "Namespace", name, desired_spec: {} };
      await it.becomes(await it.create(row), synced);
    }
    for (const namespace of namespaces) await isLookedAfter(namespace);
    const watched = http.seen.filter((line) => line.endsWith("/configmaps watch"));
    const refusedTimes = watched.filter((line) => line.includes("/api/v1/configmaps")).length;
    const places = watched.flatMap((line) => /namespaces\/([^/]+)\//.exec(line)?.slice(1) ?? []);
    assert.deepEqual(new Set(places), new Set(namespaces));
    // Once refused is enough: nobody asks for the whole cluster again and again.
    assert.ok(refusedTimes <= 2, `${refusedTimes} refusals`);
  });
});
