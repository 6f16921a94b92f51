// Informers of client-go and of client-node against writes: what they hold in the end is what a list says.

import assert from "node:assert/strict";

import { seededRandom } from "@keelson/base";
import { KubeConfig, CoreV1Api, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";

import { until } from "../../oracle/until.ts";
import { configMap, deployment, secret } from "../objects.ts";
import type { Target } from "../target.ts";
import { Commands, type Running } from "./commands.ts";

const watched = ["v1/configmaps", "v1/secrets", "apps/v1/deployments"] as const;

export interface InformerOptions {
  readonly namespace: string;
  readonly writes: number;
  /** Something that happens in the middle, such as a restart. */
  readonly disturb?: () => Promise<void>;
}

/** Both modes, typed and untyped, while somebody writes; then every cache is compared with a list. */
export async function informerWalk(
  target: Target,
  { namespace, writes, disturb }: InformerOptions,
  signal: AbortSignal,
): Promise<void> {
  const commands = new Commands(target);
  await target.client.send(
    {
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    },
    signal,
  );
  await using started = new AsyncDisposableStack();
  const informers = new Map<string, Running>();
  for (const [mode, isWatchList] of [
    ["list and watch", "false"],
    ["one stream", "true"],
  ] as const) {
    for (const typed of [false, true]) {
      const flags = [
        `-kubeconfig=${target.kubeconfig}`,
        `-namespace=${namespace}`,
        `-typed=${typed}`,
        ...watched,
      ];
      const environment = { KUBE_FEATURE_WatchListClient: isWatchList };
      const running = started.use(commands.start("informers", flags, signal, { environment }));
      informers.set(`${mode}, ${typed ? "typed" : "untyped"}`, running);
    }
  }
  for (const running of informers.values()) await running.until(/^synced$/);
  const fromNode = await nodeInformer(target, namespace);
  started.defer(async () => await fromNode.stop());

  await writeAround(target, { namespace, writes: Math.ceil(writes / 2) }, signal);
  await disturb?.();
  await writeAround(target, { namespace, writes: Math.ceil(writes / 2) }, signal);

  const wanted = await listed(target, namespace, signal);
  for (const [name, running] of informers) {
    let held: readonly string[] = [];
    await until(
      async () => {
        held = (await running.ask("dump")).map(identityOf).sort();
        return held.join() === wanted.join();
      },
      AbortSignal.any([signal, AbortSignal.timeout(30_000)]),
    ).catch(() => undefined);
    assert.deepEqual(held, wanted, `the informer (${name}) holds something else than the server`);
    checkLog(name, await running.ask("log"));
  }
  const mapsWanted = wanted.filter((one) => one.startsWith("ConfigMap "));
  await until(
    () => fromNode.list().join() === mapsWanted.join(),
    AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
  ).catch(() => undefined);
  assert.deepEqual(
    fromNode.list(),
    mapsWanted,
    "client-node's informer holds something else than the server",
  );
}

/** Creates, updates and deletes a few objects over and over. */
async function writeAround(
  { client }: Target,
  { namespace, writes }: { readonly namespace: string; readonly writes: number },
  signal: AbortSignal,
): Promise<void> {
  const random = seededRandom(`${namespace}/${writes}`);
  const kinds = [
    {
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      make: (name: string) => configMap(name, { n: String(random.integer(1_000_000)) }),
    },
    {
      path: `/api/v1/namespaces/${namespace}/secrets`,
      make: (name: string) => secret(name, { labels: { n: String(random.integer(1_000_000)) } }),
    },
    {
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      make: (name: string) => deployment(name, { replicas: random.integer(100) }),
    },
  ];
  for (let write = 0; write < writes; write += 1) {
    const { path, make } = random.pick(kinds);
    const name = `o-${random.integer(12)}`;
    const send = async (): Promise<number> => {
      switch (random.integer(4)) {
        case 0:
          return (await client.send({ method: "DELETE", path: `${path}/${name}` }, signal)).status;
        case 1:
          return (await client.send({ method: "POST", path, body: make(name) }, signal)).status;
        default:
          return (
            await client.send({ method: "PUT", path: `${path}/${name}`, body: make(name) }, signal)
          ).status;
      }
    };
    // While a server restarts connections break; that is no write, or one nobody was told of.
    await send().catch(() => undefined);
  }
}

async function listed(
  { client }: Target,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const paths = [
    `/api/v1/namespaces/${namespace}/configmaps`,
    `/api/v1/namespaces/${namespace}/secrets`,
    `/apis/apps/v1/namespaces/${namespace}/deployments`,
  ];
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { body } = await client.send({ path }, signal);
      const { items, kind } = body as { kind: string; items: readonly Named[] };
      return items.map((item) => identity({ kind: kind.replace(/List$/, ""), ...item }));
    }),
  );
  return lists.flat().sort();
}

interface Named {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

function identityOf(line: string): string {
  return identity(JSON.parse(line) as Named);
}

function identity({ kind, metadata }: Named): string {
  return `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
}

/** The handlers of one object are told add, updates, delete, in this order and with rising versions. */
function checkLog(name: string, lines: readonly string[]): void {
  const last = new Map<string, { readonly what: string; readonly version: number }>();
  for (const line of lines) {
    const [what = "", resource = "", key = "", version = ""] = line.split(" ");
    const before = last.get(`${resource} ${key}`);
    const isThere = before !== undefined && before.what !== "delete" && before.what !== "lost";
    assert.equal(what === "add", !isThere, `${name}: ${line} after ${before?.what}`);
    // A cache that listed again hears of a deletion with the version it had.
    const isLower = before !== undefined && Number(version) < before.version;
    assert.ok(!isLower, `${name}: ${line} after version ${before?.version}`);
    last.set(`${resource} ${key}`, { what, version: Number(version) });
  }
}

async function nodeInformer(
  target: Target,
  namespace: string,
): Promise<{ readonly list: () => readonly string[]; readonly stop: () => Promise<void> }> {
  const config = new KubeConfig();
  config.loadFromFile(target.kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const informer = makeInformer<V1ConfigMap>(
    config,
    path,
    async () => await api.listNamespacedConfigMap({ namespace }),
  );
  let isStopped = false;
  informer.on("error", () => {
    if (!isStopped) setTimeout(() => void informer.start().catch(() => undefined), 200);
  });
  await informer.start();
  const list = (): readonly string[] =>
    informer
      .list(namespace)
      .map(
        ({ metadata }) =>
          `ConfigMap ${metadata?.name} ${metadata?.uid} ${metadata?.resourceVersion}`,
      )
      .sort();
  return {
    list,
    stop: async () => {
      isStopped = true;
      await informer.stop();
    },
  };
}
