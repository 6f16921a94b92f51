// Several operators in one process, of which one works at a time. As processes of their own they are killed, stopped and
// cut off in operator-processes.test.ts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, type Clock } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import type { CallPoint, OperatorOptions } from "@keelson/platform";
import { clusterSuite } from "../tools/test-cluster.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { newName, OperatorBed, type RunningOperator } from "./operator-bed.ts";

const image = "registry.example.com/shop:1";
const withDatabase = { imageRef: image, database: { enabled: true } };
/** As in earnest, in a quarter of the time. */
const electionTimes = { durationMs: 8_000, renewDeadlineMs: 5_000, renewMs: 1_000, lookMs: 400 };
const leases = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };

/** Who works by it gives up late: a slow machine must not look like one that hangs. */
const patientClock: Clock = {
  ...systemClock,
  after: (ms, callback) => systemClock.after(20 * ms, callback),
  timeout: (ms) => systemClock.timeout(20 * ms),
};

const patientTimes = { durationMs: 240_000, renewDeadlineMs: 200_000 };

/** One of several, with what it changed and when. */
interface Replica extends RunningOperator {
  readonly identity: string;
  readonly writes: { readonly atMs: number; readonly call: string }[];
  readonly proxy: TcpProxy;
}

async function replica(bed: OperatorBed, identity: string, given: Partial<OperatorOptions> = {}) {
  const writes: Replica["writes"] = [];
  const proxy = await TcpProxy.to(bed.cluster.port);
  const onCall = ({ service, name, when }: CallPoint): void => {
    const isRead = service === "kubernetes" && name.startsWith("GET ");
    if (!isRead && when === "before") {
      writes.push({ atMs: performance.now(), call: `${service} ${name}` });
    }
  };
  const options = { elects: true, identity, electionTimes, onCall, port: proxy.port, ...given };
  const running = bed.start(options);
  return {
    identity,
    writes,
    proxy,
    ...running,
    [Symbol.asyncDispose]: async () => {
      proxy.isRefusing = false;
      await running.stop().catch(() => undefined);
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** Whoever leads of these, and the other. */
async function ledBy(replicas: readonly Replica[], signal: AbortSignal): Promise<Replica[]> {
  const leader = await until(
    () => replicas.find(({ operator }) => operator.isLeader && operator.isReady),
    signal,
  );
  return [leader, ...replicas.filter((one) => one !== leader)];
}

async function holderOf(bed: OperatorBed): Promise<string | undefined> {
  const lease = await bed.find(leases, "plattr-operator-leader");
  return (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity;
}

clusterSuite("operators beside each other", () => {
  test("P55, P57, P58: one sees to what is there, the other writes nothing, until the first goes", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const names = [newName(), newName()];
    for (const name of names) await bed.apply(name, withDatabase);
    const patient = { electionTimes: { ...electionTimes, ...patientTimes } };
    await using a = await replica(bed, "a", patient);
    await using b = await replica(bed, "b", patient);
    for (const name of names) await bed.until(name, ({ phase }) => phase === "Running");
    const [leader, other] = (await ledBy([a, b], t.signal)) as [Replica, Replica];
    assert.equal(other.operator.isReady, true); // It stands by.
    assert.equal(other.writes.length, 0);
    assert.equal(await holderOf(bed), leader.identity);

    await leader.stop();
    const lastMs = leader.writes.at(-1)?.atMs ?? 0;
    await ledBy([other], t.signal);
    assert.equal(await holderOf(bed), other.identity);
    const late = newName();
    await bed.apply(late, withDatabase);
    await bed.until(late, ({ phase }) => phase === "Running");
    assert.ok((other.writes[0]?.atMs ?? 0) >= lastMs);
    for (const name of [...names, late]) await bed.delete(name);
    for (const name of [...names, late]) await bed.untilGone(name);
  });

  test("a stop lets what is under way end, and the Lease is given back after it", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const gate = Promise.withResolvers<void>();
    let isHeld = false;
    const onCall = async ({ service, when }: CallPoint): Promise<void> => {
      if (service !== "sql" || when === "after" || isHeld) return;
      isHeld = true;
      await gate.promise;
    };
    const log = new RecordingLog();
    const options = { identity: "a", electionTimes: patientTimes, clock: patientClock };
    await using running = bed.start({ elects: true, onCall, log, ...options });
    const name = newName();
    await bed.apply(name, { database: { enabled: true } });
    await until(() => isHeld, t.signal);
    const stopping = running.stop();
    assert.equal(await holderOf(bed), "a");
    gate.resolve();
    await stopping;
    const { conditions } = (await bed.see(name)) ?? {};
    assert.ok(conditions?.includes("DatabaseReady True Provisioned"), conditions?.join(", "));
    assert.equal(log.messages("warn").includes("a step failed"), false);
    assert.equal(await holderOf(bed), "");
  });

  test("P59: clocks that are a minute apart make no two leaders", async (t) => {
    await using bed = await OperatorBed.prepare({}, t.signal);
    const shifted = (ms: number) => ({
      clock: { ...systemClock, now: () => systemClock.now() + ms },
    });
    await using a = await replica(bed, "a", shifted(30_000));
    await using b = await replica(bed, "b", shifted(-30_000));
    let both = 0;
    let terms = 0;
    for (const _round of [1, 2]) {
      const [leader, other] = (await ledBy([a, b], t.signal)) as [Replica, Replica];
      terms += 1;
      const name = newName();
      await bed.apply(name, withDatabase);
      await bed.until(name, ({ phase }) => {
        if (a.operator.isLeader && b.operator.isLeader) both += 1;
        return phase === "Running";
      });
      // The other hears of renewals meanwhile, and is not misled by the times in them.
      const seenAtMs = performance.now();
      await until(() => {
        if (a.operator.isLeader && b.operator.isLeader) both += 1;
        return performance.now() - seenAtMs > 2 * electionTimes.renewMs;
      }, t.signal);
      leader.proxy.isRefusing = true;
      leader.proxy.cut();
      await ledBy([other], t.signal);
      leader.proxy.isRefusing = false;
      await bed.delete(name);
      await bed.untilGone(name);
    }
    assert.deepEqual([both, terms], [0, 2]);
  });
});
