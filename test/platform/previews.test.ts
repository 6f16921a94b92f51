// The parts of a preview in a cluster: its namespace, which has one owner, and its end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { Client, refOf, type DynamicObject } from "@keelson/client";
import { Caches, controllerMetrics } from "@keelson/controller";
import {
  Children,
  cleanupNamespace,
  platformDefinitions,
  previewApp,
  reconcileNamespace,
  runExpiry,
  usualPreviewSettings,
  type App,
} from "@keelson/platform";
import { appWith, MemoryLedger } from "@keelson/platform/testing";
import { clusterSuite, startCluster } from "../tools/test-cluster.ts";
import { until } from "../tools/until.ts";

const namespaces = { apiVersion: "v1", kind: "Namespace" } as const;
const name = "preview-my-app-pr-42";

/** A preview of `my-app` for pull request 42, as one of several objects might ask for it. */
function previewOf(owner: string): App {
  const uid = `${owner}0000000-6f3b-4e0e-9b59-6d6a3f7f4b11`;
  const spec = { applicationRef: "my-app", pullRequest: 42, branch: "fix", ttl: "72h" };
  const parent = { name: "my-app", spec: appWith({}).spec };
  const naming = { baseDomain: "example.com", previewHosts: "nested" } as const;
  return previewApp(
    { owner: { uid, namespace: "dev", name: `of-${owner}` }, spec },
    parent,
    naming,
  );
}

clusterSuite("a preview's namespace", () => {
  test("has one owner, is kept as it should be, and goes with what is in it", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const { direct, reconcile, cleanup } = bed;
    const [first, second] = [previewOf("a"), previewOf("b")];
    const [ledger, others] = [new MemoryLedger(), new MemoryLedger()];

    // At once: one of them has it, and the other is told whose it is.
    const outcomes = await Promise.allSettled([
      reconcile(first, ledger),
      reconcile(second, others),
    ]);
    const hasFirst = outcomes[0].status === "fulfilled";
    const [winner, loser] = hasFirst ? [first, second] : [second, first];
    const [kept, lost] = hasFirst ? [ledger, others] : [others, ledger];
    const failure = outcomes.find(({ status }) => status === "rejected");
    assert.ok(failure?.status === "rejected");
    const conflict = {
      reason: "Conflict",
      message: `Namespace ${name} is there already and belongs to dev/${winner.owner.name}: it is left alone`,
    };
    const { reason, message } = failure.reason as { reason: string; message: string };
    assert.deepEqual({ reason, message }, conflict);
    await assert.rejects(reconcile(loser, lost), conflict);
    assert.deepEqual([kept.contents, lost.contents], [[`Namespace ${name} Ready`], []]);
    assert.deepEqual(kept.written, [`Namespace ${name} Creating`, `Namespace ${name} Ready`]);
    const made = await direct.get({ name }, signal);
    assert.equal(made.metadata.labels?.["pod-security.kubernetes.io/enforce"], "restricted");

    // Again nothing is written; what somebody changes is put right.
    const { wanted } = await reconcile(winner, kept);
    assert.deepEqual(
      wanted.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
      [`ResourceQuota ${name}/my-app-pr42`, `NetworkPolicy ${name}/my-app-pr42`],
    );
    assert.equal(await bed.version(), made.metadata.resourceVersion);
    const body = { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } };
    await direct.patch({ name }, { type: "merge", body }, signal);
    await bed.heard();
    await reconcile(winner, kept);
    assert.equal(
      (await direct.get({ name }, signal)).metadata.labels?.["pod-security.kubernetes.io/enforce"],
      "restricted",
    );

    // The loser takes nothing away; then it is its turn.
    await lost.record({ kind: "Namespace", name, state: "Creating" });
    assert.deepEqual(await cleanup(loser, lost), {});
    assert.equal((await direct.get({ name }, signal)).metadata.deletionTimestamp, undefined);
    // What somebody holds is named.
    const holding = await bed.hold("held");
    await until(async () => {
      const { left = "" } = await cleanup(winner, kept);
      return /being deleted with what is in it; .*example\.com\/held/.test(left);
    }, signal);
    await holding.letGo();
    await until(async () => (await cleanup(winner, kept)).left === undefined, signal);
    assert.equal(await direct.find({ name }, signal), undefined);
    assert.deepEqual([kept.contents, lost.contents], [[], []]);
    await cleanup(winner, kept);
    await bed.heard();
    await reconcile(loser, lost);
    assert.deepEqual(lost.contents, [`Namespace ${name} Ready`]);
  });

  test("that somebody else has is left alone", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    await bed.direct.create({ ...namespaces, metadata: { name } }, {}, signal);
    const ledger = new MemoryLedger();
    await assert.rejects(bed.reconcile(previewOf("a"), ledger), {
      reason: "Conflict",
      message: `Namespace ${name} is there already and belongs to nobody we know: it is left alone`,
    });
    await ledger.record({ kind: "Namespace", name, state: "Creating" });
    await bed.cleanup(previewOf("a"), ledger);
    const { metadata } = await bed.direct.get({ name }, signal);
    assert.deepEqual(
      [metadata.deletionTimestamp, metadata.annotations, ledger.contents],
      [undefined, undefined, []],
    );
  });
});

clusterSuite("the end of previews", () => {
  test("P50: comes once, in any namespace, at its time, which a refresh moves", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const previews = await bed.client.resource(previewKind, signal);
    const hourMs = 3_600_000;
    const create = (namespace: string, name: string, ttl: string): Promise<DynamicObject> => {
      const spec = { applicationRef: "my-app", pullRequest: 42, branch: "fix", ttl };
      return previews.create({ ...previewKind, metadata: { namespace, name }, spec }, {}, signal);
    };
    for (const name of ["one", "two"]) {
      await bed.direct.create({ ...namespaces, metadata: { name } }, {}, signal);
    }
    const short = await create("one", "short", "60m");
    const long = await create("two", "long", "2h");
    const refreshed = await create("two", "refreshed", "2h");

    const clock = new ManualClock({ now: systemClock.now() });
    const told: string[] = [];
    const onExpired = ({ metadata }: DynamicObject, note: string): void => {
      told.push(`${metadata.name}: ${note}`);
    };
    const stop = new AbortController();
    const running = runExpiry({ ...bed.parts, caches: bed.caches, clock, onExpired }, stop.signal);
    const isGone = async ({ metadata }: DynamicObject): Promise<boolean> =>
      (await previews.find(refOf({ ...previewKind, metadata }), signal)) === undefined;
    const at = ({ metadata }: DynamicObject, ms: number): string =>
      new Date(Date.parse(metadata.creationTimestamp ?? "") + ms).toISOString().replace(".000", "");

    await clock.advance(hourMs);
    await until(() => isGone(short), signal);
    assert.deepEqual([await isGone(long), await isGone(refreshed)], [false, false]);

    const annotations = { "platform.internal/refresh": new Date(clock.now()).toISOString() };
    const refresh = await previews.patch(
      refOf(refreshed),
      { type: "merge", body: { metadata: { annotations } } },
      signal,
    );
    await until(
      async () =>
        (await bed.caches.resource(previewKind).find(refOf(refreshed), signal))?.metadata
          .resourceVersion === refresh.metadata.resourceVersion,
      signal,
    );
    await clock.advance(hourMs);
    await until(() => isGone(long), signal);
    assert.equal(await isGone(refreshed), false);
    await clock.advance(hourMs);
    await until(() => isGone(refreshed), signal);
    const refreshedAtMs = Date.parse(annotations["platform.internal/refresh"]);
    const refreshedEnd = new Date(Math.floor((refreshedAtMs + 2 * hourMs) / 1000) * 1000);
    await until(() => told.length === 3, signal);
    assert.deepEqual(told, [
      `short: its time was up at ${at(short, hourMs)}`,
      `long: its time was up at ${at(long, 2 * hourMs)}`,
      `refreshed: its time was up at ${refreshedEnd.toISOString().replace(".000", "")}`,
    ]);
    stop.abort();
    await running;
  });

  test("waits for whoever cleans up, and is asked for once", async (t) => {
    const { signal } = t;
    await using bed = await open(signal);
    const previews = await bed.client.resource(previewKind, signal);
    const spec = { applicationRef: "my-app", pullRequest: 42, branch: "fix", ttl: "5m" };
    const metadata = {
      namespace: "default",
      name: "held",
      finalizers: ["platform.internal/cleanup"],
    };
    const held = await previews.create({ ...previewKind, metadata, spec }, {}, signal);
    const clock = new ManualClock({ now: systemClock.now() });
    const told: string[] = [];
    const onExpired = ({ metadata }: DynamicObject) => void told.push(metadata.name ?? "");
    const stop = new AbortController();
    const running = runExpiry({ ...bed.parts, caches: bed.caches, clock, onExpired }, stop.signal);
    await clock.advance(300_000);
    await until(
      async () =>
        (await previews.get(refOf(held), signal)).metadata.deletionTimestamp !== undefined,
      signal,
    );
    for (let sweep = 0; sweep < 5; sweep += 1) await clock.advance(300_000);
    await previews.removeFinalizer(held, "platform.internal/cleanup", signal);
    await until(() => told.length > 0, signal);
    assert.deepEqual(told, ["held"]);
    stop.abort();
    await running;
  });
});

const previewKind = {
  apiVersion: "platform.internal/v1alpha1",
  kind: "PreviewEnvironment",
} as const;

async function open(signal: AbortSignal) {
  await using setup = new AsyncDisposableStack();
  const options = { simulatesWorkloads: false, definitions: platformDefinitions() };
  const cluster = setup.use(await startCluster(options, signal));
  const client = setup.use(new Client({ access: cluster.accessAt(cluster.port) }));
  const metrics = controllerMetrics(noMetrics);
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, metrics };
  const caches = setup.use(new Caches({ client, ...parts }, signal));
  const children = new Children({ client, caches });
  const direct = await client.resource(namespaces, signal);
  const step = { client, children, settings: usualPreviewSettings };
  const version = async (): Promise<string | undefined> =>
    (await direct.find({ name }, signal))?.metadata.resourceVersion;
  const kept = setup.move();
  return {
    client,
    caches,
    parts,
    direct,
    version,
    reconcile: (app: App, ledger: MemoryLedger) =>
      reconcileNamespace(step, { app, ledger }, signal),
    cleanup: (app: App, ledger: MemoryLedger) => cleanupNamespace(step, { app, ledger }, signal),
    /** Makes something in the namespace that does not go before it is let go. */
    hold: async (held: string) => {
      const kind = { apiVersion: "v1", kind: "ConfigMap" };
      const configMaps = await client.resource(kind, signal);
      const metadata = { namespace: name, name: held, finalizers: ["example.com/held"] };
      await configMaps.create({ ...kind, metadata }, {}, signal);
      const body = { metadata: { finalizers: null } };
      const letGo = () =>
        configMaps.patch({ namespace: name, name: held }, { type: "merge", body }, signal);
      return { letGo };
    },
    /** Waits until the operator has heard of what somebody else did to the namespace. */
    heard: () =>
      until(async () => {
        const seen = await children.of(namespaces).find({ name }, signal);
        return seen?.metadata.resourceVersion === (await version());
      }, signal),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
