// Two clusters at once, reached by credentials from the table (F17, F20, F24, F49, F52): whatever happens to one leaves
// the other alone, and the worker follows what becomes of targets. KEELSON_TEST_AWAY_MS lets one be away for longer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import { startTestServer } from "@keelson/apiserver/testing";
import { TaskScope, type JsonObject } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { Client, fixedCredentials, type Access } from "@keelson/client";
import { accessTo } from "../oracle/client/bed.ts";
import { startOracle } from "../oracle/cluster.ts";
import { kubeconfigOf } from "../tools/kubeconfig.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { assembleWorker } from "./assembled-worker.ts";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";
import { as, startFleetRest, type FleetRest } from "./fleet-rest.ts";

const map = (clusterId: string, name: string, a = clusterId) => ({
  cluster_id: clusterId,
  namespace: "default",
  kind: "ConfigMap",
  name,
  desired_spec: { data: { a } },
});
const admin = as("admin");
const { KEELSON_TEST_AWAY_MS: awayMs = "0" } = process.env;

/** How a cluster is reached by a port, as one of the users that it knows. */
type Config = (port: number, user: 0 | 1) => JsonObject;

/** A cluster, and what of its credentials nobody must ever read. */
interface Server extends AsyncDisposable {
  readonly access: Access;
  readonly config: Config;
  readonly secrets: readonly string[];
}

async function ownServer(signal: AbortSignal): Promise<Server> {
  const server = await startTestServer({}, signal);
  const secrets = ["hush-hush", "hush-hush-2"];
  return {
    access: { server: server.url, credentials: fixedCredentials({}) },
    config: (port, user) =>
      kubeconfigOf({ server: `http://127.0.0.1:${port}` }, { token: secrets[user] ?? "" }),
    secrets,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A real Kubernetes, of its own: two clusters are two of them. */
async function realServer(signal: AbortSignal): Promise<Server> {
  const oracle = await startOracle({}, signal);
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const { certificate, key, token } = oracle.admin;
  const users = [
    { token },
    { "client-certificate-data": base64(certificate), "client-key-data": base64(key) },
  ];
  return {
    access: accessTo(oracle),
    config: (port, user) =>
      kubeconfigOf(
        { server: `https://127.0.0.1:${port}`, "certificate-authority-data": base64(oracle.ca) },
        users[user] ?? {},
      ),
    secrets: [token, key, base64(key)],
    [Symbol.asyncDispose]: () => oracle[Symbol.asyncDispose](),
  };
}

/** A cluster behind a network that can be spoilt. */
async function startOne(signal: AbortSignal) {
  await using setup = new AsyncDisposableStack();
  const server = setup.use(await (isOracle ? realServer(signal) : ownServer(signal)));
  const port = Number(new URL(server.access.server).port);
  const proxy = setup.use(await TcpProxy.to(port));
  const client = setup.use(new Client({ access: server.access }));
  const maps = await client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
  const kept = setup.move();
  return {
    port,
    proxy,
    config: server.config,
    secrets: server.secrets,
    maps,
    valueOf: async (name: string): Promise<unknown> =>
      (await maps.find({ name, namespace: "default" }, signal))?.["data"],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function startWorker(rest: FleetRest, log: RecordingLog, { isDeaf }: { readonly isDeaf: boolean }) {
  const { signal } = new AbortController();
  const worker = assembleWorker({
    database: rest.tables.openAnother(),
    own: new Map(),
    owner: isDeaf ? "deaf" : "hearing",
    limits: { deafPollMs: isDeaf ? 300 : 30_000, staleMs: 3_000 },
    log,
    signal,
  });
  const scope = new TaskScope(signal);
  worker.run(scope, { isDeaf });
  return {
    [Symbol.asyncDispose]: async () => {
      await scope[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
    },
  };
}

clusterSuite("many clusters", () => {
  test("two clusters beside each other: joining, crossing, pausing, failing, moving, leaving", async (t) => {
    const { signal } = t;
    await using a = await startOne(signal);
    await using b = await startOne(signal);
    await using rest = await startFleetRest({
      tokens: { admin: { role: "admin" }, "only-a": { role: "editor", clusters: ["a"] } },
    });
    const log = new RecordingLog();
    const ask = (...words: Parameters<FleetRest["ask"]>) =>
      rest.ask(words[0], words[1], words[2], words[3] ?? admin);
    const create = async (body: object): Promise<number> => {
      const answer = await ask("POST", "/resources", body as never);
      assert.equal(answer.code, 201, JSON.stringify(answer.body));
      return answer.body.id as number;
    };
    const is = (id: number, status: string) =>
      until(async () => (await ask("GET", `/resources/${id}`)).body.status === status, signal);
    const healthIs = (clusterId: string, health: string) =>
      until(async () => (await ask("GET", `/targets/${clusterId}`)).body.health === health, signal);
    const hearing = startWorker(rest, log, { isDeaf: false });
    try {
      await t.test("F24: what is wanted of an unknown cluster waits until it joins", async () => {
        const early = await ask("POST", "/resources", map("a", "early"));
        assert.deepEqual(
          [early.code, early.body.status, early.body.warnings[0]?.code],
          [201, "pending", "unknown_target"],
        );
        for (const [clusterId, { proxy, config }] of [
          ["a", a],
          ["b", b],
        ] as const) {
          const body = { cluster_id: clusterId, kubeconfig: config(proxy.port, 0) };
          assert.equal((await ask("POST", "/targets", body)).code, 201);
        }
        await is(early.body.id, "synced");
        await healthIs("a", "Healthy");
        await healthIs("b", "Healthy");
      });

      await t.test(
        "F49: one key in two clusters is two objects, and a token sees its own",
        async () => {
          const ids = [await create(map("a", "same")), await create(map("b", "same"))];
          for (const id of ids) await is(id, "synced");
          assert.deepEqual(
            [await a.valueOf("same"), await b.valueOf("same")],
            [{ a: "a" }, { a: "b" }],
          );
          const limited = as("only-a");
          assert.equal((await ask("POST", "/resources", map("b", "x"), limited)).code, 403);
          assert.equal((await ask("GET", `/resources/${ids[1]}`, undefined, limited)).code, 404);
          assert.equal((await ask("DELETE", `/resources/${ids[1]}`, undefined, limited)).code, 404);
          const seen = (await ask("GET", "/resources", undefined, limited)).body.resources;
          assert.deepEqual(
            new Set(seen.map((one: { cluster_id: string }) => one.cluster_id)),
            new Set(["a"]),
          );
          await b.maps.delete({ name: "same", namespace: "default" }, signal);
          await until(async () => (await b.valueOf("same")) !== undefined, signal);
          await is(ids[0] ?? 0, "synced");
        },
      );

      await t.test(
        "a paused target is watched and not written to, and goes on when resumed",
        async () => {
          await ask("PUT", "/targets/b", { paused: true });
          const id = await create(map("b", "later"));
          await b.maps.delete({ name: "same", namespace: "default" }, signal);
          const [same] = (await ask("GET", "/resources?cluster_id=b&name=same")).body.resources;
          await is(same.id, "drifted");
          assert.deepEqual(
            [await b.valueOf("later"), await b.valueOf("same")],
            [undefined, undefined],
          );
          await ask("PUT", "/targets/b", { paused: false });
          await is(id, "synced");
          await is(same.id, "synced");
        },
      );

      await t.test(
        "F20, F52: a cluster that is away keeps nobody, is asked now and then, and catches up",
        async (away) => {
          b.proxy.isRefusing = true;
          b.proxy.cut();
          const changes = Array.from({ length: 200 }, (_, n) => ({
            op: "create",
            ...map("b", `n-${n}`),
          }));
          assert.equal((await ask("POST", "/batch", { changes })).code, 200);
          await healthIs("b", "Unreachable");
          // For a moment, or for as long as was asked for, as in the scenario's hour.
          const awaySince = performance.now();
          const tookMs: number[] = [];
          while (tookMs.length < 5 || performance.now() - awaySince < Number(awayMs)) {
            const beganMs = performance.now();
            await is(await create(map("a", `beside-${tookMs.length}`)), "synced");
            tookMs.push(performance.now() - beganMs);
            // A long absence is not one of hard work.
            if (tookMs.length > 5) await wait(500, undefined, { signal });
          }
          const sorted = tookMs.toSorted((one, other) => one - other);
          const [median, slowest] = [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0];
          away.diagnostic(
            `away for ${Math.round((performance.now() - awaySince) / 1000)} s: ${sorted.length} changes beside it, ` +
              `in sync after ${Math.round(median)} ms, the slowest after ${Math.round(slowest)} ms`,
          );
          await healthIs("b", "Unreachable");
          const [counted] = await rest.tables.query(
            `SELECT sum(attempts)::integer AS attempts FROM resource_attempts WHERE cluster_id = 'b'`,
          );
          assert.deepEqual(counted, { attempts: 0 });
          const [one] = (await ask("GET", "/resources?cluster_id=b&name=n-7")).body.resources;
          const shown = (await ask("GET", `/resources/${one.id}`)).body;
          const reachable = shown.conditions.find(
            ({ type }: { type: string }) => type === "TargetReachable",
          );
          assert.deepEqual(
            [shown.status, shown.health, reachable.status],
            ["pending", "Unknown", "False"],
          );
          // The trouble is the target's: it is told of each resource, and no attempt of any has failed.
          const { class: errorClass, generation, attempts } = shown.last_error;
          assert.deepEqual([errorClass, generation, attempts], ["unreachable", null, 0]);
          const backMs = performance.now();
          b.proxy.isRefusing = false;
          await until(async () => {
            const { body } = await ask("GET", "/resources?cluster_id=b&status=synced&limit=1");
            return body.total >= 202;
          }, signal);
          await healthIs("b", "Healthy");
          away.diagnostic(
            `all in sync ${Math.round(performance.now() - backMs)} ms after it was back`,
          );
        },
      );

      await t.test("another credential is another way, from the next call on", async () => {
        a.proxy.isRefusing = true;
        const moved = { kubeconfig: a.config(a.port, 1) };
        assert.equal((await ask("PUT", "/targets/a", moved)).code, 200);
        a.proxy.cut();
        await is(await create(map("a", "moved")), "synced");
        await healthIs("a", "Healthy");
      });

      await t.test("what nobody is in contact with is unknown", async () => {
        await rest.tables.query(
          `INSERT INTO targets (cluster_id, agent, health, last_contact_at)
           VALUES ('inside', true, 'Healthy', now() - interval '1 hour')`,
        );
        const id = await create(map("inside", "alone"));
        await healthIs("inside", "Unknown");
        assert.equal((await ask("GET", `/resources/${id}`)).body.status, "pending");
      });

      await t.test(
        "a target that is forgotten keeps its objects, and nobody looks after them",
        async () => {
          assert.equal((await ask("DELETE", "/targets/b")).code, 409);
          assert.equal((await ask("DELETE", "/targets/b?orphan=true")).code, 204);
          await until(async () => b.proxy.open === 0 || (b.proxy.cut(), false), signal);
          assert.deepEqual(await b.valueOf("n-7"), { a: "b" });
        },
      );
    } finally {
      await hearing[Symbol.asyncDispose]();
    }

    await t.test("a worker that ends has given everything back", async () => {
      const held = await rest.tables.query(
        `SELECT cluster_id FROM targets WHERE lease_owner IS NOT NULL
         UNION ALL SELECT cluster_id FROM resource_attempts WHERE lease_owner IS NOT NULL`,
      );
      assert.deepEqual(held, []);
    });

    await t.test("F17: without wake-ups everything arrives by the poll", async () => {
      await using _deaf = startWorker(rest, log, { isDeaf: true });
      await is(await create(map("a", "unheard")), "synced");
    });

    await t.test("F53: no credential is in any log line or event", async () => {
      const told = await rest.tables.query(`SELECT data::text AS data FROM events_unnumbered`);
      const all = inspect([told, log.entries], { depth: 12, maxArrayLength: null });
      // Section 10: what was applied is in the log by its numbers.
      const applied = log.entries.find(({ message }) => message === "applied");
      assert.deepEqual(Object.keys(applied?.fields ?? {}).toSorted(), [
        "cluster_id",
        "generation",
        "resource_id",
        "revision",
      ]);
      for (const secret of [...a.secrets, ...b.secrets]) assert.ok(!all.includes(secret));
    });
  });

  test("F31: a cluster that takes another's place gets what that one had, however it counts its versions", async (t) => {
    const { signal } = t;
    await using former = await startOne(signal);
    await using next = await startOne(signal);
    await using rest = await startFleetRest();
    await using _worker = startWorker(rest, new RecordingLog(), { isDeaf: false });
    // What is there has come far before anything of ours is applied.
    for (let n = 0; n < 30; n += 1) {
      const metadata = { name: `n-${n}`, namespace: "default" };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
      await former.maps.apply(object, { fieldManager: "somebody" }, signal);
    }
    const target = { cluster_id: "prod", kubeconfig: former.config(former.proxy.port, 0) };
    assert.equal((await rest.ask("POST", "/targets", target)).code, 201);
    const { body: made } = await rest.ask("POST", "/resources", map("prod", "web"));
    const shown = async () => (await rest.ask("GET", `/resources/${made.id}`)).body;
    await until(async () => (await shown()).status === "synced", signal);
    const { current } = await shown();
    const { resourceVersion } = await next.maps.list({}, signal);
    assert.ok(isOracle || Number(resourceVersion) < Number(current.k8s_resource_version));
    const moved = { kubeconfig: next.config(next.proxy.port, 0) };
    assert.equal((await rest.ask("PUT", "/targets/prod", moved)).code, 200);
    await until(async () => (await next.valueOf("web")) !== undefined, signal);
    await until(async () => (await shown()).status === "synced", signal);
    assert.notEqual((await shown()).current.uid, current.uid);
  });
});
