// The reflector before a real API server on a bad network.

import { suite } from "node:test";

import { startOracle, type Oracle } from "../cluster.ts";
import { fillBelow } from "../fill-below.ts";
import { oracleTest } from "../oracle-test.ts";
import { until } from "../../tools/until.ts";
import {
  accessTo,
  assertLevel,
  clientOf,
  configMap,
  configMapKind,
  follow,
  proxyTo,
} from "./bed.ts";
import { roundObject, runReflectorRounds, type Spoilable } from "./reflector-rounds.ts";

const objects = Number(process.env["REFLECTOR_OBJECTS"] ?? 10_000);
const rounds = Number(process.env["REFLECTOR_ROUNDS"] ?? 1);
const seed = process.env["REFLECTOR_SEED"] ?? "gate";

/** In the gate a stall is made to show ten times sooner; that the usual limits keep to 30 s is the simulation's. */
const isPatient = process.env["REFLECTOR_PATIENCE"] === "usual";
const soon = { quietMs: 1_200, shortSeconds: 1, silenceMs: 2_500 };

suite("reflector", { concurrency: true }, () => {
  oracleTest(`${objects} objects, churn, and every trouble: the cache equals a list`, async (t) => {
    await using oracle = await startOracle({}, t.signal);
    await fillBelow(
      oracle,
      { resource: "configmaps", count: objects, object: roundObject },
      t.signal,
    );
    await runReflectorRounds(spoilable(oracle), { rounds, seed, objects }, t);
  });

  oracleTest(
    "a connection that is half open is found, and what it swallowed is read",
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      await using proxy = await proxyTo(oracle);
      await using near = clientOf(accessTo(oracle));
      const transport = isPatient ? {} : { limits: { suspectMsMin: 500 } };
      await using far = clientOf(accessTo(oracle, proxy.port), transport);
      const limits = isPatient ? {} : soon;
      const maps = await near.resource(configMapKind, t.signal);
      const { resource } = maps;
      await using busy = follow(far, { resource, limits });
      await using quiet = follow(far, {
        resource,
        limits,
        selection: { labelSelector: "nobody=has-this" },
      });
      await assertLevel(busy.cache, { client: near, resource }, t.signal);
      await quiet.cache.untilSynced(t.signal);
      proxy.weather = { type: "half-open" };
      const startedMs = performance.now();
      await maps.create(configMap("unseen", {}), {}, t.signal);
      const labels = { nobody: "has-this" };
      const metadata = { name: "unseen-too", namespace: "default", labels };
      await maps.create({ ...configMap("", {}), metadata }, {}, t.signal);
      const seen = (cache: typeof busy.cache, name: string): Promise<boolean> =>
        until(() => cache.get({ namespace: "default", name }) !== undefined, t.signal);
      await Promise.all([seen(busy.cache, "unseen"), seen(quiet.cache, "unseen-too")]);
      const tookMs = performance.now() - startedMs;
      t.diagnostic(`found after ${tookMs.toFixed(0)} ms`);
    },
  );

  oracleTest("a server that refuses to stream its state is listed", async (t) => {
    const flags = { "kube-apiserver": ["--feature-gates=WatchList=false"] };
    await using oracle = await startOracle({ flags }, t.signal);
    await using client = clientOf(accessTo(oracle));
    const maps = await client.resource(configMapKind, t.signal);
    for (let i = 0; i < 20; i++) await maps.create(roundObject(i), {}, t.signal);
    await using followed = follow(client, { resource: maps.resource });
    await assertLevel(followed.cache, { client, resource: maps.resource }, t.signal);
    await maps.delete({ namespace: "default", name: "object-3" }, t.signal);
    await assertLevel(followed.cache, { client, resource: maps.resource }, t.signal);
  });
});

function spoilable(oracle: Oracle): Spoilable {
  const restart = async (signal: AbortSignal): Promise<void> => {
    await oracle.stopProgram("kube-apiserver", "SIGKILL");
    await oracle.startProgram("kube-apiserver", signal);
  };
  return {
    target: oracle,
    restart,
    // A watch is served from the server's memory: only after a restart does it miss what etcd has forgotten.
    forget: async (signal) => {
      await oracle.compact(signal);
      await restart(signal);
    },
  };
}
