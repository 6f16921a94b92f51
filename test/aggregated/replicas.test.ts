// Three replicas on one PostgreSQL behind a host, with clients and watchers at each, those of the first through the host: commits stall,
// one is killed, the database restarts, wake-ups do not come to the first, then to nobody. The history checker of the store judges what
// everybody saw. KEELSON_TEST_ROUNDS chooses how often.

import assert from "node:assert/strict";
import { suite } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { seededRandom } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { PostgresProxy } from "@keelson/store/testing";

import { assertClean } from "../apiserver/history/judged.ts";
import { Scene } from "../apiserver/history/rounds.ts";
import { metricOf } from "../apiserver/scenarios/metrics.ts";
import { openStream, type Stream } from "../apiserver/scenarios/stream.ts";
import type { KeyPair } from "../tools/certificates.ts";
import { HttpClient } from "../tools/http-client.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import { HistoryRecorder } from "../simulation/history.ts";
import { PostgresLook } from "../simulation/processes/postgres-look.ts";
import { expectStatus } from "./asking.ts";
import { startBed } from "./bed.ts";
import { memories, type Deletions } from "./history-memories.ts";
import { DatabaseFacts } from "./database-facts.ts";
import { memory, pathOf } from "./objects.ts";
import type { Replica } from "./replica.ts";

const rounds = Number(process.env["KEELSON_TEST_ROUNDS"] ?? 4);
const seed = process.env["KEELSON_TEST_SEED"] ?? "replicas";

suite(`replicas behind a host, ${rounds} rounds, seed ${seed}`, () => {
  oracleTest("nothing is lost, missed or told twice", async (t) => {
    const { signal } = t;
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" }, signal);
    await using database = await postgres.createDatabase();
    const driver = "postgresql";
    // The first, which is the host's, comes to its database by a way that can lose what wakes it.
    await using way = await PostgresProxy.start(database.url);
    await using bed = await startBed({ driver, databaseUrl: way.url }, signal);
    await using undo = new AsyncDisposableStack();
    const replicas: [string, Replica][] = [["one", bed.replica]];
    for (const name of ["two", "three"]) {
      const replica = undo.use(await bed.newReplica({ driver, databaseUrl: database.url }));
      await replica.start(signal);
      replicas.push([name, replica]);
    }
    const untilServed = async (): Promise<void> => {
      await until(async () => await allReady(replicas, signal), signal);
      await bed.untilAvailability("True", signal);
    };
    const deafOnes = async (): Promise<readonly string[]> => {
      const metric = "keelson_notify_degraded";
      const found = await Promise.all(
        replicas.map(async ([name, replica]) => {
          return (await metricOf(replica, metric, signal)) === 1 ? [name] : [];
        }),
      );
      return found.flat();
    };
    const look = undo.use(new PostgresLook(database.url));
    const facts = undo.use(new DatabaseFacts(database.url));
    const deletions: Deletions = (uid) => facts.deletion(uid);
    const recorder = new HistoryRecorder();
    const random = seededRandom(seed);
    const { admin, client } = bed.oracle;
    const servers = new Map(
      replicas.map(([name, replica]) => {
        const { url, ca } = name === "one" ? bed.oracle : replica;
        return [name, { url, ca, admin }] as const;
      }),
    );
    await look.stallCommits(0.02);
    const objects = memories(deletions);
    const scene = new Scene({ seed, servers, cluster: { client }, objects, look, recorder });
    const trouble = async (replica: string, what: string, run: () => Promise<void>) => {
      recorder.record({ type: "trouble", replica, state: "begins", what });
      await run();
      recorder.record({ type: "trouble", replica, state: "ends", what });
    };
    const history = await scene.play(async () => {
      for (let round = 0; round < rounds; round += 1) {
        await scene.progress(100 + random.integer(100));
        const [name, replica] = random.pick(replicas);
        switch (round % 4) {
          case 0:
            await trouble(name, "kill -9", async () => {
              await replica.stop("SIGKILL");
              await replica.start(signal);
              await untilServed();
            });
            break;
          case 1:
            await trouble("*", "immediate restart", async () => {
              await postgres.restart({ mode: "immediate" });
              await untilServed();
            });
            break;
          case 2:
            // One alone is not woken any more: it looks by itself, and its watchers miss nothing.
            recorder.record({ type: "deaf", replica: "one" });
            way.swallowsNotifications = true;
            // What connects now is probed at once.
            await trouble("one", "connections cut", async () => {
              way.cut();
              await until(async () => isDeepStrictEqual(await deafOnes(), ["one"]), signal);
              await untilServed();
            });
            await scene.progress(100);
            // Another one whose probe is late on a busy machine is deaf for a moment, too.
            assert.ok((await deafOnes()).includes("one"));
            way.swallowsNotifications = false;
            await trouble("one", "connections cut", async () => {
              way.cut();
              await until(async () => (await deafOnes()).length === 0, signal);
              await untilServed();
            });
            break;
          default:
            // Nobody hears of what the others wrote: they look by themselves.
            recorder.record({ type: "deaf", replica: "*" });
            await look.setWakeUps(false);
            await look.terminateListeners();
            await scene.progress(60);
            await look.setWakeUps(true);
        }
      }
      await scene.progress(150);
    }, signal);
    assertClean(t, history, seed);

    // WATCH-10: nobody asks the one that is not woken for anything, and writes elsewhere come one by one: its watchers hear of each.
    way.swallowsNotifications = true;
    way.cut();
    await until(async () => isDeepStrictEqual(await deafOnes(), ["one"]), signal);
    await untilServed();
    await watchedEverywhere([...servers.values()].toReversed(), signal);
    assert.ok((await deafOnes()).includes("one"));

    // FAULT-9: nothing of ours outlives us in the server.
    assert.deepEqual(await facts.replication(), { slots: 0, publications: 0 });
    for (const [, replica] of replicas) await replica.stop("SIGTERM");
    assert.deepEqual(await facts.replication(), { slots: 0, publications: 0 });
  });
});

interface Server {
  readonly url: string;
  readonly ca: string;
  readonly admin: KeyPair & { readonly token: string };
}

/** Writes at the first, each when the one before has been seen by a watcher at every server. */
async function watchedEverywhere(servers: readonly Server[], signal: AbortSignal): Promise<void> {
  const [first] = servers;
  assert.ok(first !== undefined);
  const path = pathOf("memories", "default");
  const { certificate, key } = first.admin;
  using client = new HttpClient({ url: first.url, ca: first.ca, certificate, key });
  const { body } = await expectStatus(client, { path: `${path}?limit=1` }, 200, signal);
  const { metadata } = body as { metadata: { resourceVersion: string } };
  using open = new DisposableStack();
  const watch = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const streams: Stream[] = [];
  for (const server of servers) streams.push(open.use(await openStream(server, watch, signal)));
  for (let n = 0; n < 10; n += 1) {
    const name = `told-${n}`;
    await expectStatus(client, { method: "POST", path, body: memory(name) }, 201, signal);
    for (const stream of streams) {
      const [event] = await stream.take(1, signal);
      assert.deepEqual([event?.type, event?.name], ["ADDED", name]);
    }
  }
}

async function allReady(
  replicas: readonly [string, Replica][],
  signal: AbortSignal,
): Promise<boolean> {
  for (const [, replica] of replicas) {
    using nobody = replica.connectAs({});
    if ((await nobody.send({ path: "/readyz" }, signal)).status !== 200) return false;
  }
  return true;
}
