// Unmodified clients at our server, on both backends; and at the real one, which proves the walks themselves, by KEELSON_TEST_WALKS=oracle.

import { suite, type TestContext } from "node:test";

import { oracleTest } from "../oracle/oracle-test.ts";
import { startOracle } from "../oracle/cluster.ts";
import { drivers, startOurs } from "./ours.ts";
import { startReference, type Target } from "./target.ts";
import { controllerWalk } from "./walks/controllers.ts";
import { helmWalk } from "./walks/helm.ts";
import { informerWalk } from "./walks/informers.ts";
import { kubectlWalk } from "./walks/kubectl.ts";
import { managerWalk } from "./walks/manager.ts";

const isOracle = process.env["KEELSON_TEST_WALKS"] === "oracle";
const places = isOracle ? (["sqlite"] as const) : drivers;

// Side by side: clients mostly wait for each other.
suite("clients", { concurrency: places.length }, () => {
  for (const driver of places) {
    suite(isOracle ? "clients at the real server" : `clients at our server, ${driver}`, () => {
      const start = async (t: TestContext): Promise<Target> =>
        isOracle ? await startReference(t.signal) : await startOurs({ driver }, t.signal);

      oracleTest(
        "kubectl, from the first command to the last, with a certificate and with a token",
        async (t) => {
          await using target = await start(t);
          const walks = (["certificate", "token"] as const).map((credentials) =>
            kubectlWalk(target, { namespace: `walk-${credentials}`, credentials }, t.signal),
          );
          await Promise.all(walks);
        },
      );

      oracleTest(
        "Helm installs, upgrades, rolls back and uninstalls a chart with hooks",
        async (t) => {
          await using target = await start(t);
          await helmWalk(target, "walk-helm", t.signal);
        },
      );

      oracleTest("informers and a manager with leader election", async (t) => {
        await using target = await start(t);
        await informerWalk(target, { namespace: "walk-informers", writes: 400 }, t.signal);
        await managerWalk(target, "walk-manager", t.signal);
      });

      oracleTest("kube-controller-manager, kube-scheduler and KWOK run workloads", async (t) => {
        // The real server without controllers of its own: those of the walk do the work.
        const flags = { "kube-apiserver": ["--disable-admission-plugins="] };
        await using target = isOracle ? await startOracle({ flags }, t.signal) : await start(t);
        await controllerWalk(target, "walk-controllers", t.signal);
      });
    });
  }
});
