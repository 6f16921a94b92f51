// WATCH-11 through a host: caches of unmodified clients hold our kinds through everything that goes wrong between them and the host, and
// behind it; whenever it is calm they equal a list.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { agent, ark } from "../../apiserver/scenarios/ark.ts";
import { drivers } from "../../apiserver/scenarios/bed.ts";
import { measure } from "../../apiserver/scenarios/length.ts";
import { Caches, type CachedKinds } from "../../apiserver/walks/caches.ts";
import { createNamespace, writeAround, type WrittenKind } from "../../apiserver/walks/informers.ts";
import { kubeconfigFor } from "../../oracle/cluster-files.ts";
import { oracleTest } from "../../oracle/oracle-test.ts";
import { TcpProxy } from "../../oracle/tcp-proxy.ts";
import { startBed } from "../bed.ts";
import { group } from "../host-objects.ts";
import { memory } from "../objects.ts";

const seconds = measure({ gate: 6, full: 3_600 });
const seed = process.env["KEELSON_TEST_SEED"] ?? "chaos";
/** Clients wait up to half a minute between tries. */
const patienceMs = 150_000;
/** Short, so that whoever was away for a while finds its revision gone. */
const compaction = ["--compaction-interval", "1s"];
const namespace = "chaos";

const cached: CachedKinds = {
  resources: [`${group}/v1alpha1/agents`, `${group}/v1alpha1/memories`],
  pathsIn: (namespace) => [ark(namespace, "agents"), ark(namespace, "memories")],
  isCompiled: false,
  first: { kind: "Agent", pathIn: (namespace) => ark(namespace, "agents") },
};

const written: readonly WrittenKind[] = [
  {
    path: ark(namespace, "agents"),
    make: (name, random) => agent(name, {}, `prompt ${random.integer(1_000_000)}`),
    isPatched: true,
  },
  {
    path: ark(namespace, "memories"),
    make: (name, random) =>
      memory(name, { address: `http://m${random.integer(1_000_000)}.example.com` }),
    isPatched: true,
  },
];

suite(
  `chaos through a host, ${seconds} s on each backend, seed ${seed}`,
  { concurrency: 1 },
  () => {
    for (const driver of drivers) {
      oracleTest(
        `WATCH-11 informers of client-go and client-node equal the store, ${driver}`,
        async (t) => {
          const { signal } = t;
          await using undo = new AsyncDisposableStack();
          const database =
            driver === "postgresql"
              ? undo.use(await startThrowawayPostgres({ flavour: "embedded" }, signal))
              : undefined;
          const one =
            database === undefined ? undefined : undo.use(await database.createDatabase());
          const bed = undo.use(
            await startBed({ driver, databaseUrl: one?.url, flags: compaction }, signal),
          );
          const { oracle, replica } = bed;
          const proxy = undo.use(await TcpProxy.to(Number(new URL(oracle.url).port)));
          await createNamespace(oracle, namespace, signal);
          const kubeconfig = join(bed.folder, "spoilt.kubeconfig");
          const { certificate, key } = oracle.admin;
          const url = `https://127.0.0.1:${proxy.port}`;
          writeFileSync(kubeconfig, kubeconfigFor({ url, ca: oracle.ca, certificate, key }), {
            mode: 0o600,
          });
          const options = { namespace, kubeconfig, kinds: cached, patienceMs };
          const caches = undo.use(await Caches.start(oracle, options, signal));
          const troubles: Readonly<Record<string, () => Promise<unknown>>> = {
            "connections cut": async () => proxy.cut(),
            "no network": async () => {
              proxy.isRefusing = true;
              proxy.cut();
              // Longer than two cuts of the log: whoever comes back has to list again.
              await wait(2_500, undefined, { signal });
              proxy.isRefusing = false;
            },
            "kill -9": async () => {
              await replica.stop("SIGKILL");
              await replica.start(signal);
            },
            restart: async () => {
              await replica.stop("SIGTERM");
              await replica.start(signal);
            },
            ...(database === undefined
              ? {}
              : {
                  "database restarted": async () => await database.restart({ mode: "immediate" }),
                }),
          };
          const random = seededRandom(`${seed}/${driver}`);
          const plan = Object.keys(troubles);
          const deadline = performance.now() + seconds * 1_000;
          let [taken, rests] = [0, 0];
          for (let round = 0; round < plan.length || performance.now() < deadline; round += 1) {
            const name = plan[round] ?? random.pick(plan);
            const writing = [0, 1].map((writer) =>
              writeAround(
                oracle,
                { namespace, writes: 60, seed: `${seed}/${round}/${writer}`, kinds: written },
                signal,
              ),
            );
            await troubles[name]?.();
            for (const count of await Promise.all(writing)) {
              assert.ok(count > 0, `${name}: nothing was written`);
              taken += count;
            }
            if (round + 1 < plan.length || random.integer(3) > 0) continue;
            await bed.untilAvailability("True", signal);
            await caches.assertLevel(signal);
            rests += 1;
          }
          await bed.untilAvailability("True", signal);
          const objects = await caches.assertLevel(signal);
          t.diagnostic(`${taken} writes, ${objects} objects in the end, level ${rests + 1} times`);
        },
      );
    }
  },
);
