// The guide to Ark kinds behind a real cluster, as its reader follows it.

import { suite } from "node:test";

import { followGuide } from "../guides/follow-guide.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { startHost } from "./bed.ts";

suite("the guide of Ark kinds", () => {
  oracleTest("ark-behind-a-cluster.md", async (t) => {
    await using host = await startHost({}, t.signal);
    const environment = { KUBECONFIG: host.kubeconfig };
    await followGuide("ark-behind-a-cluster.md", { environment }, t.signal);
  });
});
