// Two operators as processes: whoever leads is killed, stopped for a while, cut off or told to end, always in the middle
// of its work. The logs of the API server and of PostgreSQL say who wrote: never two, and everything is seen to.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@keelson/base";
import { leftovers, nothing } from "@keelson/platform/testing";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";
import { namespace, newName, seenIn, type OperatorBed, type Seen } from "./operator-bed.ts";
import { ProcessBed } from "./process-bed.ts";

const image = "registry.example.com/shop:1";
const withDatabase = { imageRef: image, database: { enabled: true } };
const leases = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
const previewKind = {
  apiVersion: "platform.internal/v1alpha1",
  kind: "PreviewEnvironment",
} as const;

// Most of the time they wait for a Lease to expire: together.
clusterSuite("operators as processes", { concurrency: !isOracle }, () => {
  test("P56, P57: one is stopped past its Lease, wakes and writes nothing; then the next is killed, and it sees to all that is pending", async (t) => {
    const { signal } = t;
    await using bed = await ProcessBed.prepare(signal);
    const { apps } = bed;
    await bed.startPair();
    const [kept, going, first, second, pending, late] = Array.from({ length: 6 }, newName) as Six;
    const crowd = Array.from({ length: 4 }, newName);
    for (const name of [kept, going]) await apps.apply(name, withDatabase);
    const previews = await apps.resource(previewKind);
    const ref = { namespace, name: `${kept}-7` };
    const spec = { applicationRef: kept, pullRequest: 7, branch: "b", ttl: "72h" };
    await previews.create({ ...previewKind, metadata: ref, spec }, {}, signal);
    for (const name of [kept, going]) await apps.until(name, isRunning);
    const preview = await until(async () => {
      const found = await previews.find(ref, signal);
      return found !== undefined && isRunning(seenIn(found)) && found;
    }, signal);

    // Among others that are further, and would like to go on.
    const stopped = bed.whenAsked(makingSchemaOf(first), ({ process }) => process.send("SIGSTOP"));
    await Promise.all([...crowd, first].map((name) => apps.apply(name, withDatabase)));
    const [one, other] = await stopped;
    for (const name of [...crowd, first]) await apps.until(name, isRunning);
    await until(() => other.leads(), signal);
    one.process.send("SIGCONT");
    await until(() => one.process.output.includes("leadership ended"), signal);
    await apps.apply(second, withDatabase);
    await apps.until(second, isRunning);
    await bed.checkTurns();

    const killed = bed.whenAsked(makingSchemaOf(pending), ({ process }) => process.send("SIGKILL"));
    await apps.apply(pending, withDatabase);
    const [dead, left] = await killed;
    await dead.process.ended;
    await apps.apply(late, withDatabase);
    await apps.delete(going);
    // The shortest life that there is, and it is over.
    const createdMs = Date.parse(preview.metadata.creationTimestamp ?? "");
    await until(() => systemClock.now() > createdMs + 60_000, signal);
    await previews.patch(ref, { type: "merge", body: { spec: { ttl: "1m" } } }, signal);
    for (const name of [pending, late]) await apps.until(name, isRunning);
    await apps.untilGone(going);
    await until(async () => (await previews.find(ref, signal)) === undefined, signal);
    await until(() => left.leads(), signal, "the one that is left to lead");
    await goWithoutTrace(apps, [kept, first, second, pending, late, ...crowd]);
    assert.deepEqual(await leftovers(apps.database, going), nothing);
    await bed.checkTurns();
  });

  test("P57, P58: one is cut off from the cluster, not from PostgreSQL; the next is told to end, and nobody waits for the Lease", async (t) => {
    const { signal } = t;
    await using bed = await ProcessBed.prepare(signal);
    const { apps } = bed;
    await bed.startPair();
    const [first, second, third] = [newName(), newName(), newName()];
    const cut = bed.whenAsked(makingSchemaOf(first), ({ way }) => {
      way.isRefusing = true;
      way.cut();
    });
    await apps.apply(first, withDatabase);
    const [one, other] = await cut;
    await apps.until(first, isRunning);
    await until(() => other.leads(), signal);
    one.way.isRefusing = false;
    await apps.apply(second, withDatabase);
    await apps.until(second, isRunning);
    await bed.checkTurns();

    // It would be too fast to see the Lease without a holder.
    one.process.send("SIGSTOP");
    const told = bed.whenAsked(makingSchemaOf(third), ({ process }) => process.send("SIGTERM"));
    await apps.apply(third, withDatabase);
    await told;
    const { code, output } = await other.process.ended;
    assert.equal(code, 0, output);
    const lease = await apps.find(leases, "plattr-operator-leader");
    const { holderIdentity } = (lease?.["spec"] ?? {}) as { holderIdentity?: string };
    // It has two seconds for it, which a busy machine may take; elsewhere it must succeed.
    assert.ok(
      holderIdentity === "" || output.includes("the lease could not be given back"),
      output,
    );
    one.process.send("SIGCONT");
    await apps.until(third, isRunning);
    await bed.checkSecrets([first, second, third], one);
    await goWithoutTrace(apps, [first, second, third]);
    await bed.checkTurns();
  });
});

type Six = [string, string, string, string, string, string];

function isRunning({ phase }: Pick<Seen, "phase">): boolean {
  return phase === "Running";
}

/** What PostgreSQL logs when the schema of an app is made: its transaction is open then. */
function makingSchemaOf(app: string): RegExp {
  return new RegExp(`CREATE SCHEMA .*${app.replaceAll("-", "_")}`);
}

async function goWithoutTrace(apps: OperatorBed, names: readonly string[]): Promise<void> {
  for (const name of names) await apps.delete(name);
  for (const name of names) await apps.untilGone(name);
  for (const name of names) assert.deepEqual(await leftovers(apps.database, name), nothing);
}
