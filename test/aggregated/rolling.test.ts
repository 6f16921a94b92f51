// Replicas are stopped and started one after the other, as a rollout does it, while clients write and watch through the host: no
// request fails, no event is lost.

import assert from "node:assert/strict";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { createNamespace } from "../apiserver/create-namespace.ts";
import { findFreePorts } from "../tools/ports.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { until } from "../tools/until.ts";
import { Balancer } from "./balancer.ts";
import { startBed, type Bed } from "./bed.ts";
import { memory, pathOf } from "./objects.ts";
import type { Replica } from "./replica.ts";

const writers = 8;
/** How often a starved host may spoil it. What is broken fails each time. */
const attemptsMax = 5;
/** What the host says, and nobody else, while it believes that we do not answer. */
const calledAway = "503 service unavailable\n";
const memories = pathOf("memories", "rolling");

suite("a rollout behind a host", () => {
  oracleTest("no request fails and no event is lost", async (t) => {
    const { signal } = t;
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" }, signal);
    await using database = await postgres.createDatabase();
    const options = { driver: "postgresql", databaseUrl: database.url } as const;
    const [port = 0, firstPort = 0] = await findFreePorts(2);
    await using balancer = await Balancer.listen(port, [firstPort]);
    await using bed = await startBed({ ...options, hostPort: port, port: firstPort }, signal);
    await using second = await bed.newReplica(options);
    await second.start(signal);
    balancer.targets = [firstPort, second.port];
    await createNamespace(bed.oracle, "rolling", signal);

    using watching = watchNames(bed);
    const rollouts = async (attempt: number): Promise<ReadonlyMap<string, string>> => {
      const stop = new AbortController();
      using stopping = new DisposableStack();
      stopping.defer(() => stop.abort());
      const answers = new Map<string, string>();
      const working = Promise.all(
        Array.from({ length: writers }, (_, index) =>
          write(bed, `w${index}-${attempt}`, answers, stop.signal),
        ),
      );
      working.catch(() => undefined); // It is awaited below.
      const progress = async (count: number): Promise<void> => {
        const goal = answers.size + count;
        await Promise.race([working, until(() => answers.size >= goal, signal)]);
      };
      for (const replica of [bed.replica, second, bed.replica]) {
        await progress(40);
        await rollOver(replica, balancer, signal);
      }
      await progress(40);
      stop.abort();
      await working;
      return answers;
    };
    const failuresOf = (all: ReadonlyMap<string, string>): readonly string[] =>
      [...all.values()].filter((answer) => answer !== "created");
    let answers = await rollouts(1);
    for (let attempt = 2; attempt <= attemptsMax; attempt += 1) {
      const failures = failuresOf(answers);
      if (failures.length === 0 || failures.some((answer) => answer !== calledAway)) break;
      t.diagnostic("the host did not get an answer in time, and called us away");
      await bed.untilAvailable(signal);
      answers = await rollouts(attempt);
    }
    assert.deepEqual(failuresOf(answers), []);
    await until(() => [...answers.keys()].every((name) => watching.names.has(name)), signal);
    assert.deepEqual(watching.errors, []);
  });
});

/** As a rollout: nobody new is sent there, then it is told to stop, then the next one stands in its place. */
async function rollOver(replica: Replica, balancer: Balancer, signal: AbortSignal): Promise<void> {
  const all = balancer.targets;
  balancer.targets = all.filter((port) => port !== replica.port);
  // Whoever was sent there before is taken in by then: in turn, and on a busy machine late.
  using probe = replica.connectAs({});
  await probe.send({ path: "/healthz" }, signal);
  await replica.stop("SIGTERM");
  assert.match(replica.output, /"message":"stopped"/);
  await replica.start(signal);
  balancer.targets = all;
}

async function write(
  bed: Bed,
  writer: string,
  answers: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { signal: forever } = new AbortController();
  for (let n = 0; !signal.aborted; n += 1) {
    const name = `${writer}-${n}`;
    const request = { method: "POST", path: memories, body: memory(name) } as const;
    const { status, text } = await bed.oracle.client.send(request, forever);
    answers.set(name, status === 201 ? "created" : `${status} ${text}`);
  }
}

/** Every name that a watch through the host has told, taken up again where it ended. */
function watchNames(bed: Bed) {
  const end = new AbortController();
  const names = new Set<string>();
  const errors: string[] = [];
  let version = "0";
  void (async (): Promise<void> => {
    while (!end.signal.aborted) {
      const path = `${memories}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`;
      try {
        for await (const { type, object } of bed.oracle.client.watch(path, end.signal)) {
          if (type === "ERROR") {
            errors.push(JSON.stringify(object));
            break;
          }
          const { metadata } = object as { metadata: { name?: string; resourceVersion: string } };
          version = metadata.resourceVersion;
          if (type === "ADDED") names.add(metadata.name ?? "");
        }
      } catch {
        // The host tells of a connection that broke; the next watch goes on from there.
      }
      await wait(20, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return { names, errors, [Symbol.dispose]: () => end.abort() };
}
