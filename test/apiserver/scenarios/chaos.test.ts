// WATCH-11: caches of unmodified clients through everything that goes wrong; whenever it is calm they equal the store.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { oracleTest } from "../../oracle/oracle-test.ts";
import { TcpProxy } from "../../tools/tcp-proxy.ts";
import { until } from "../../tools/until.ts";
import { createNamespace } from "../create-namespace.ts";
import { drivers, startOurs } from "../ours.ts";
import { Caches } from "../walks/caches.ts";
import { writeAround } from "../walks/informers.ts";
import {
  clear,
  compaction,
  endure,
  kubeconfigThrough,
  patienceMs,
  seconds,
  seed,
  usualTroubles,
  type Troubles,
} from "./chaos.ts";
import { concurrency, isAtLength } from "./length.ts";

suite(`chaos, ${seconds} s on each backend, seed ${seed}`, { concurrency }, () => {
  for (const driver of drivers) {
    oracleTest(
      `WATCH-11 informers of client-go, controller-runtime and client-node equal the store, ${driver}`,
      async (t) => {
        await using undo = new AsyncDisposableStack();
        const database =
          driver === "postgresql"
            ? undo.use(await startThrowawayPostgres({ flavour: "embedded" }, t.signal))
            : undefined;
        const one = database === undefined ? undefined : undo.use(await database.createDatabase());
        const server = undo.use(
          await startOurs({ driver, databaseUrl: one?.url, flags: compaction }, t.signal),
        );
        const proxies = await Promise.all(
          ["go", "node"].map(async () =>
            undo.use(await TcpProxy.to(Number(new URL(server.url).port))),
          ),
        );
        const [go, node] = proxies;
        assert.ok(go !== undefined && node !== undefined);
        const namespace = "chaos";
        await createNamespace(server, namespace, t.signal);
        const kubeconfig = kubeconfigThrough(server, go, join(server.folder, "go.kubeconfig"));
        const kubeconfigOfNode = kubeconfigThrough(
          server,
          node,
          join(server.folder, "node.kubeconfig"),
        );
        const caches = undo.use(
          await Caches.start(
            server,
            { namespace, kubeconfig, kubeconfigOfNode, patienceMs },
            t.signal,
          ),
        );
        const random = seededRandom(`${seed}/${driver}`);
        const troubles: Troubles = {
          ...usualTroubles({ server, proxies, database }, t.signal),
          "slow network": async () => {
            for (const proxy of proxies) proxy.weather = { type: "delay", ms: 100 };
            await wait(1_000, undefined, { signal: t.signal });
            clear(proxies);
          },
          // Found out by pings, which takes most of a minute.
          ...(isAtLength ? { silence: async () => (go.weather = { type: "half-open" }) } : {}),
        };
        const answers = async (): Promise<boolean> => {
          const asked = server.client.send({ path: "/readyz" }, t.signal);
          return (await asked.catch(() => undefined))?.status === 200;
        };
        await endure(t, {
          troubles,
          caches,
          random,
          write: (from) =>
            writeAround(
              server,
              { namespace, writes: 60 + random.integer(100), seed: from },
              t.signal,
            ),
          calm: async () => {
            clear(proxies);
            await until(answers, t.signal);
          },
          check: (trouble) =>
            assert.ok(server.isAlive, `${trouble} was its end: ${server.output.slice(-4_000)}`),
        });
      },
    );
  }
});
