// Caches of unmodified clients: client-go in both modes, typed and untyped, controller-runtime, client-node. What each holds is
// compared with a list.

import assert from "node:assert/strict";

import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  type KubernetesListObject,
  type KubernetesObject,
} from "@kubernetes/client-node";

import { until } from "../../tools/until.ts";
import type { Target } from "../target.ts";
import { Commands, type Running } from "./commands.ts";

/** What the caches hold. */
export interface CachedKinds {
  /** As the informers of client-go are told. */
  readonly resources: readonly string[];
  readonly pathsIn: (namespace: string) => readonly string[];
  /** Whether clients have them compiled in: then there are caches of their types too, and the manager's. */
  readonly isCompiled: boolean;
  /** The kind that smaller caches hold alone, and where it is listed. */
  readonly first: { readonly kind: string; readonly pathIn: (namespace: string) => string };
}

const builtin: CachedKinds = {
  resources: ["v1/configmaps", "v1/secrets", "apps/v1/deployments"],
  pathsIn: (namespace) => [
    `/api/v1/namespaces/${namespace}/configmaps`,
    `/api/v1/namespaces/${namespace}/secrets`,
    `/apis/apps/v1/namespaces/${namespace}/deployments`,
  ],
  isCompiled: true,
  first: {
    kind: "ConfigMap",
    pathIn: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  },
};

export interface CachesOptions {
  readonly namespace: string;
  /** ConfigMaps, Secrets and Deployments unless told. */
  readonly kinds?: CachedKinds;
  /** How clients find the server; the admin's unless told. */
  readonly kubeconfig?: string;
  /** Likewise for client-node, which does not notice a connection that went silent. */
  readonly kubeconfigOfNode?: string;
  /** How long a cache may take to come level. */
  readonly patienceMs?: number;
}

interface Cache {
  readonly name: string;
  /** Identities of what it holds, in order. */
  readonly held: () => Promise<readonly string[]>;
  /** Only the first kind, or everything that is watched. */
  readonly holdsFirstOnly: boolean;
  /** What its handlers were told since the last time. */
  readonly log?: () => Promise<readonly string[]>;
}

export class Caches implements AsyncDisposable {
  readonly #target: Target;
  readonly #options: CachesOptions;
  readonly #caches: readonly Cache[];
  readonly #logs = new Map<string, HandlerLog>();
  readonly #undo: AsyncDisposableStack;

  /** Starts them all; they are filled. */
  static async start(target: Target, options: CachesOptions, signal: AbortSignal): Promise<Caches> {
    await using undo = new AsyncDisposableStack();
    const { namespace, kubeconfig = target.kubeconfig, kinds = builtin } = options;
    const commands = new Commands(target);
    const caches: Cache[] = [];
    for (const [mode, isWatchList] of [
      ["list and watch", "false"],
      ["one stream", "true"],
    ] as const) {
      for (const typed of kinds.isCompiled ? [false, true] : [false]) {
        const environment = { KUBE_FEATURE_WatchListClient: isWatchList };
        const flags = [`-kubeconfig=${kubeconfig}`, `-namespace=${namespace}`, `-typed=${typed}`];
        const running = undo.use(
          commands.start("informers", [...flags, ...kinds.resources], signal, { environment }),
        );
        caches.push({
          name: `client-go, ${mode}, ${typed ? "typed" : "untyped"}`,
          held: async () => identitiesIn(await running.ask("dump")),
          holdsFirstOnly: false,
          log: async () => await running.ask("log"),
        });
        await running.until(/^synced$/);
      }
    }
    if (kinds.isCompiled) {
      const flags = [`-cluster=${kubeconfig}`, `-namespace=${namespace}`, "-lease=2m"];
      const manager: Running = undo.use(commands.start("manager", flags, signal));
      await manager.until(/^started$/);
      caches.push({
        name: "controller-runtime",
        held: async () => identitiesIn(await manager.ask("dump")),
        holdsFirstOnly: true,
      });
    }
    const node = undo.use(
      await NodeInformer.start(options.kubeconfigOfNode ?? kubeconfig, namespace, kinds.first),
    );
    caches.push({ name: "client-node", held: async () => node.held, holdsFirstOnly: true });
    return new Caches(target, { options, caches, undo: undo.move() });
  }

  private constructor(
    target: Target,
    parts: {
      readonly options: CachesOptions;
      readonly caches: readonly Cache[];
      readonly undo: AsyncDisposableStack;
    },
  ) {
    this.#target = target;
    this.#options = parts.options;
    this.#caches = parts.caches;
    this.#undo = parts.undo;
  }

  /** While nobody writes: each comes to hold what a list says, and its handlers were told how. Answers how many objects. */
  async assertLevel(signal: AbortSignal): Promise<number> {
    const { namespace, patienceMs = 150_000, kinds = builtin } = this.#options;
    const paths = kinds.pathsIn(namespace);
    for (const { name, held, holdsFirstOnly, log } of this.#caches) {
      let wanted: readonly string[] = [];
      let holds: readonly string[] = [];
      const timeUp = AbortSignal.timeout(patienceMs);
      await until(
        async () => {
          // A manager that works on them writes to them.
          const all = await listed(this.#target, paths, signal);
          const { kind } = kinds.first;
          wanted = holdsFirstOnly ? all.filter((one) => one.startsWith(`${kind} `)) : all;
          holds = await held();
          return holds.join() === wanted.join();
        },
        AbortSignal.any([signal, timeUp]),
      ).catch((error: unknown) => {
        if (!timeUp.aborted) throw error;
      });
      assert.deepEqual(holds, wanted, `the cache of ${name} holds something else than the server`);
      if (log === undefined) continue;
      const told = this.#logs.get(name) ?? new HandlerLog(name);
      this.#logs.set(name, told);
      told.check(await log());
    }
    return (await listed(this.#target, paths, signal)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

/** The handlers of one object are told add, updates, delete, in this order and with rising versions. */
class HandlerLog {
  readonly #name: string;
  readonly #last = new Map<string, { readonly what: string; readonly version: number }>();

  constructor(name: string) {
    this.#name = name;
  }

  check(lines: readonly string[]): void {
    for (const line of lines) {
      const [what = "", resource = "", key = "", version = ""] = line.split(" ");
      const before = this.#last.get(`${resource} ${key}`);
      const isThere = before !== undefined && before.what !== "delete" && before.what !== "lost";
      assert.equal(what === "add", !isThere, `${this.#name}: ${line} after ${before?.what}`);
      // A cache that listed again hears of a deletion with the version it had.
      const isLower = before !== undefined && Number(version) < before.version;
      assert.ok(!isLower, `${this.#name}: ${line} after version ${before?.version}`);
      this.#last.set(`${resource} ${key}`, { what, version: Number(version) });
    }
  }
}

type NodesInformer = ReturnType<typeof makeInformer<KubernetesObject>>;

/** client-node's informer, which is started again whenever it gives up. */
class NodeInformer implements AsyncDisposable {
  readonly #informer: NodesInformer;
  readonly #namespace: string;
  readonly #kind: string;
  #isStopped = false;

  static async start(
    kubeconfig: string,
    namespace: string,
    { kind, pathIn }: CachedKinds["first"],
  ): Promise<NodeInformer> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const path = pathIn(namespace);
    const [, group = "", version = ""] = /^\/apis\/([^/]+)\/([^/]+)\//.exec(path) ?? [];
    const plural = path.slice(path.lastIndexOf("/") + 1);
    const list = async (): Promise<KubernetesListObject<KubernetesObject>> => {
      if (group === "") {
        return await config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace });
      }
      const api = config.makeApiClient(CustomObjectsApi);
      const asked = { group, version, namespace, plural };
      return (await api.listNamespacedCustomObject(
        asked,
      )) as KubernetesListObject<KubernetesObject>;
    };
    const informer = makeInformer<KubernetesObject>(config, path, list);
    const started = new NodeInformer(informer, namespace, kind);
    await informer.start();
    return started;
  }

  private constructor(informer: NodesInformer, namespace: string, kind: string) {
    this.#informer = informer;
    this.#namespace = namespace;
    this.#kind = kind;
    informer.on("error", () => {
      if (!this.#isStopped) setTimeout(() => void informer.start().catch(() => undefined), 200);
    });
  }

  get held(): readonly string[] {
    return this.#informer
      .list(this.#namespace)
      .map(
        ({ metadata }) =>
          `${this.#kind} ${metadata?.name} ${metadata?.uid} ${metadata?.resourceVersion}`,
      )
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#informer.stop();
  }
}

async function listed(
  { client }: Pick<Target, "client">,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { status, body, text } = await client.send({ path }, signal);
      assert.equal(status, 200, text);
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

/** Whatever else is printed stands on lines of its own. */
function identitiesIn(lines: readonly string[]): readonly string[] {
  return lines
    .filter((line) => line.startsWith("{"))
    .map((line) => identity(JSON.parse(line) as Named))
    .sort();
}

function identity({ kind, metadata }: Named): string {
  return `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
}
