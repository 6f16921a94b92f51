// The client's requests against a real API server.

import { suite } from "node:test";

import { startOracle } from "../cluster.ts";
import { oracleTest } from "../oracle-test.ts";
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
    await t.test("by a proxy that speaks TLS", async () => {
      await bySecureProxy(world, await oracle.issue({ name: "proxy", hosts: ["127.0.0.1"] }));
    });
  });
});
