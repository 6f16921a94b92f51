// The client's requests against a real API server.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { startOracle } from "../cluster.ts";
import { oracleTest } from "../oracle-test.ts";
import { until } from "../../tools/until.ts";
import { accessTo, clientOf } from "./bed.ts";
import { bySecureProxy, proxySteps } from "./by-proxy.ts";
import { requestSteps } from "./requests.ts";

suite("client", () => {
  oracleTest("requests do what they say, and refusals carry the server's words", async (t) => {
    await using oracle = await startOracle({}, t.signal);
    await using client = clientOf(accessTo(oracle));
    const world = { target: oracle, client, signal: t.signal };
    for (const [what, step] of Object.entries({ ...requestSteps, ...proxySteps })) {
      await t.test(what, () => step(world));
    }
    await t.test("a group whose server is away is not the same as no group", async () => {
      const kind = { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService" };
      const services = await client.resource(kind, t.signal);
      const metadata = { name: "v1.away.example.com" };
      const service = { namespace: "default", name: "nobody" };
      const [group, version] = ["away.example.com", "v1"];
      const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
      const spec = { group, version, service, insecureSkipTLSVerify: true, ...priorities };
      await services.create({ ...kind, metadata, spec }, {}, t.signal);
      const thing = { apiVersion: "away.example.com/v1", kind: "Thing" };
      await until(async () => {
        const error: unknown = await client.resource(thing, t.signal).catch((one: unknown) => one);
        return (error as { code?: unknown }).code === "GROUP_UNAVAILABLE";
      }, t.signal);
      const other = { apiVersion: "nowhere.example.com/v1", kind: "Thing" };
      await assert.rejects(client.resource(other, t.signal), { code: "UNKNOWN_KIND" });
      await services.delete(metadata, t.signal);
    });
    await t.test("by a proxy that speaks TLS", async () => {
      await bySecureProxy(world, await oracle.issue({ name: "proxy", hosts: ["127.0.0.1"] }));
    });
  });
});
