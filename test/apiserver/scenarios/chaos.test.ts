// WATCH-11: caches of unmodified clients through everything that goes wrong; whenever it is calm they equal the store.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { kubeconfigFor } from "../../oracle/cluster-files.ts";
import { oracleTest } from "../../oracle/oracle-test.ts";
import { TcpProxy } from "../../oracle/tcp-proxy.ts";
import { until } from "../../oracle/until.ts";
import { startOurs, type Ours } from "../ours.ts";
import { Caches } from "../walks/caches.ts";
import { createNamespace, writeAround } from "../walks/informers.ts";
import { drivers } from "./bed.ts";
import { concurrency, isAtLength, measure } from "./length.ts";

const seconds = measure({ gate: 6, full: 3_600 });
const seed = process.env["KEELSON_TEST_SEED"] ?? "chaos";
/** Clients wait up to half a minute between tries, and as long again to miss a silent connection. */
const patienceMs = 150_000;
/** Short, so that whoever was away for a while finds its revision gone. */
const compaction = ["--compaction-interval", "1s"];

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
        const kubeconfig = kubeconfigThrough(server, go, "go");
        const kubeconfigOfNode = kubeconfigThrough(server, node, "node");
        const caches = undo.use(
          await Caches.start(
            server,
            { namespace, kubeconfig, kubeconfigOfNode, patienceMs },
            t.signal,
          ),
        );
        const random = seededRandom(`${seed}/${driver}`);
        const clear = (): void => {
          for (const proxy of proxies) {
            proxy.weather = { type: "clear" };
            proxy.isRefusing = false;
          }
        };
        const troubles: Readonly<Record<string, () => Promise<unknown>>> = {
          "connections cut": async () => proxies.forEach((proxy) => proxy.cut()),
          "no network": async () => {
            for (const proxy of proxies) proxy.isRefusing = true;
            for (const proxy of proxies) proxy.cut();
            // Longer than two cuts of the log: whoever comes back has to list again.
            await wait(2_500, undefined, { signal: t.signal });
            clear();
          },
          "slow network": async () => {
            for (const proxy of proxies) proxy.weather = { type: "delay", ms: 100 };
            await wait(1_000, undefined, { signal: t.signal });
            clear();
          },
          "kill -9": async () => {
            await server.stop("SIGKILL");
            await server.start(t.signal);
          },
          restart: async () => {
            await server.stop("SIGTERM");
            await server.start(t.signal);
          },
          ...(database === undefined
            ? {}
            : { "database restarted": async () => await database.restart({ mode: "immediate" }) }),
          // Found out by pings, which takes most of a minute.
          ...(isAtLength ? { silence: async () => (go.weather = { type: "half-open" }) } : {}),
        };
        /** In the gate each once, at length by chance. */
        const plan = Object.keys(troubles);
        const done = new Map<string, number>();
        const deadline = performance.now() + seconds * 1_000;
        let [written, rests] = [0, 0];
        for (let round = 0; round < plan.length || performance.now() < deadline; round += 1) {
          const name = plan[round] ?? random.pick(plan);
          const writing = [0, 1].map((writer) =>
            writeAround(
              server,
              { namespace, writes: 60 + random.integer(100), seed: `${seed}/${round}/${writer}` },
              t.signal,
            ),
          );
          await troubles[name]?.();
          assert.ok(server.isAlive, `${name} was its end: ${server.output.slice(-4_000)}`);
          done.set(name, (done.get(name) ?? 0) + 1);
          for (const taken of await Promise.all(writing)) {
            assert.ok(taken > 0, `${name}: nothing was written`);
            written += taken;
          }
          if (round + 1 < plan.length || random.integer(3) > 0) continue;
          clear();
          await until(
            async () =>
              (await server.client.send({ path: "/readyz" }, t.signal).catch(() => undefined))
                ?.status === 200,
            t.signal,
          );
          await caches.assertLevel(t.signal);
          rests += 1;
        }
        clear();
        const objects = await caches.assertLevel(t.signal);
        const told = [...done].map(([name, count]) => `${name} ${count}`).join(", ");
        t.diagnostic(
          `${written} writes, ${objects} objects in the end, level ${rests + 1} times; ${told}`,
        );
      },
    );
  }
});

/** The admin's way to the server through a network that is spoilt. */
function kubeconfigThrough(server: Ours, proxy: TcpProxy, name: string): string {
  const { certificate, key } = server.admin;
  const url = `https://127.0.0.1:${proxy.port}`;
  const path = join(server.folder, `${name}.kubeconfig`);
  writeFileSync(path, kubeconfigFor({ url, ca: server.ca, certificate, key }), { mode: 0o600 });
  return path;
}
