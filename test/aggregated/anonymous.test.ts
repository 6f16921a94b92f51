// Callers without credentials where they are not let in: as the real server has it (KB 61), alone and behind a host.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { startOurs } from "../apiserver/ours.ts";
import { startOracle } from "../oracle/cluster.ts";
import { HttpClient, type Request } from "../tools/http-client.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { startBed } from "./bed.ts";

const flag = "--anonymous-auth=false";

const paths =
  "/healthz /livez /readyz /readyz?verbose /livez/ping /version /api /apis /openapi/v2 /nothing /api/v1/namespaces";
const requests: readonly Request[] = paths.split(" ").map((path) => ({ path }));
const others: readonly Request[] = [
  { path: "/api/v1/namespaces", headers: { authorization: "Bearer nobody" } },
  { path: "/healthz", headers: { authorization: "Bearer nobody" } },
  // Only a front proxy is believed to speak for others.
  { path: "/healthz", headers: { "x-remote-user": "root", "x-remote-group": "system:masters" } },
  { method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "x" } } },
];

suite("without anonymous callers", () => {
  oracleTest(
    "everybody else is told 401, on health paths too, as by the real server",
    async (t) => {
      const { signal } = t;
      await using oracle = await startOracle({ flags: { "kube-apiserver": [flag] } }, signal);
      await using ours = await startOurs({ driver: "sqlite", flags: [flag] }, signal);
      using theirs = new HttpClient({ url: oracle.url, ca: oracle.ca });
      using nobody = new HttpClient({ url: ours.url, ca: ours.ca });
      for (const request of [...requests, ...others]) {
        const asked = JSON.stringify(request);
        const expected = await theirs.send(request, signal);
        const answer = await nobody.send(request, signal);
        assert.equal(expected.status, 401, asked);
        assert.deepEqual([answer.status, answer.body], [401, expected.body], asked);
      }
      // Whoever is known is let in as before.
      for (const path of ["/healthz", "/version", "/api/v1/namespaces"]) {
        assert.equal((await ours.client.send({ path }, signal)).status, 200, path);
      }
    },
  );

  oracleTest("behind a host only who comes by it, or is known to it, is let in", async (t) => {
    const { signal } = t;
    await using bed = await startBed({ driver: "sqlite", flags: [flag] }, signal);
    using nobody = bed.replica.connectAs({});
    const path = "/apis/ark.mckinsey.com/v1alpha1/agents";
    for (const request of [
      { path },
      { path: "/healthz" },
      { path: "/readyz" },
      { path: "/apis" },
    ]) {
      assert.equal((await nobody.send(request, signal)).status, 401, request.path);
    }
    assert.equal((await bed.oracle.client.send({ path }, signal)).status, 200);
    const health = await fetch(`${bed.replica.metricsUrl}/readyz`, { signal });
    assert.equal(health.status, 200, "beside the metrics health needs no credentials");
  });
});
