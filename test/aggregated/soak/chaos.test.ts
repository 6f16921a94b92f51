// WATCH-11 through a host: caches of unmodified clients hold our kinds through everything that goes wrong between them and the host, and
// behind it; whenever it is calm they equal a list.

import { join } from "node:path";
import { suite } from "node:test";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { createNamespace } from "../../apiserver/create-namespace.ts";
import { drivers } from "../../apiserver/ours.ts";
import { agent, ark } from "../../apiserver/scenarios/ark.ts";
import {
  clear,
  compaction,
  endure,
  kubeconfigThrough,
  patienceMs,
  seconds,
  seed,
  usualTroubles,
} from "../../apiserver/scenarios/chaos.ts";
import { Caches, type CachedKinds } from "../../apiserver/walks/caches.ts";
import { writeAround, type WrittenKind } from "../../apiserver/walks/informers.ts";
import { oracleTest } from "../../oracle/oracle-test.ts";
import { TcpProxy } from "../../tools/tcp-proxy.ts";
import { startBed } from "../bed.ts";
import { group } from "../host-objects.ts";
import { memory } from "../objects.ts";

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
          const spoilt = join(bed.folder, "spoilt.kubeconfig");
          const kubeconfig = kubeconfigThrough(oracle, proxy, spoilt);
          const options = { namespace, kubeconfig, kinds: cached, patienceMs };
          const caches = undo.use(await Caches.start(oracle, options, signal));
          await endure(t, {
            troubles: usualTroubles({ server: replica, proxies: [proxy], database }, signal),
            caches,
            random: seededRandom(`${seed}/${driver}`),
            write: (from) =>
              writeAround(oracle, { namespace, writes: 60, seed: from, kinds: written }, signal),
            calm: async () => {
              clear([proxy]);
              await bed.untilAvailability("True", signal);
            },
          });
        },
      );
    }
  },
);
