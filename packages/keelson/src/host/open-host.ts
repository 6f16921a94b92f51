// Finds the host cluster and makes sure that we can stand behind it.

import type { Clock, Log, Metrics, Random } from "@keelson/base";
import {
  BadKubeconfig,
  Client,
  hasCode,
  isNotFound,
  loadKubeconfig,
  ResourceClient,
  type Access,
  type KubeconfigSource,
} from "@keelson/client";
import { StatusError } from "@keelson/kube";

import type { Config } from "../config.ts";
import { StartError } from "../start-error.ts";
import { ClusterHost, dataOf } from "./cluster-host.ts";
import { configMaps, namespaces, trustConfigMap, trustNamespace } from "./resources.ts";
import { accessReview, tokenReview } from "./reviews.ts";

export interface OpenHostOptions {
  readonly config: Pick<Config, "kubeconfig" | "hostKubeconfigs" | "proxies">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A host that answers, and the connections to it. */
export interface OpenedHost extends AsyncDisposable {
  readonly host: ClusterHost;
  readonly server: string;
}

/** How long the host may take for each of our first questions. */
const firstMs = 10_000;

/** Connects. Throws a `StartError` that names what to set or to grant. */
export async function openHost(options: OpenHostOptions, signal: AbortSignal): Promise<OpenedHost> {
  const { clock, random, log, metrics } = options;
  const { access, setting } = await accessOf(options);
  await using undo = new AsyncDisposableStack();
  const client = undo.use(
    new Client({
      access,
      clock,
      random,
      metrics,
      userAgent: "keelson-apiserver",
      // As many as a busy server has callers whom it does not know yet.
      rateLimit: { perSecond: 1_000, burst: 2_000, waitersMax: 5_000 },
    }),
  );
  const authentication = await firstQuestions(client, { server: access.server, setting }, signal);
  const host = new ClusterHost({ client, clock, random, log, authentication });
  const owned = undo.move();
  return {
    host,
    server: access.server,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** By `--kubeconfig`, else as kubectl finds it, else as a Pod does. */
async function accessOf({
  config,
  clock,
}: OpenHostOptions): Promise<{ readonly access: Access; readonly setting: string }> {
  const [source, setting] = sourceOf(config);
  try {
    const { proxies } = config;
    return { access: await loadKubeconfig(source, { clock, proxies }), setting };
  } catch (error) {
    if (!(error instanceof BadKubeconfig)) throw error;
    throw new StartError(
      "USAGE",
      `the host cluster cannot be found by ${setting}: ${error.message}: give its kubeconfig with --kubeconfig (KEELSON_KUBECONFIG)`,
      { cause: error },
    );
  }
}

function sourceOf({
  kubeconfig,
  hostKubeconfigs,
}: OpenHostOptions["config"]): readonly [KubeconfigSource, string] {
  if (kubeconfig !== undefined) return [{ files: [kubeconfig] }, "--kubeconfig"];
  if (hostKubeconfigs.length > 0) return [{ files: hostKubeconfigs }, "KUBECONFIG"];
  return [{ inCluster: true }, "the service account of a Pod"];
}

/** Everything that we will ask for, once: who lacks a right hears of it now and not when the first caller comes. */
async function firstQuestions(
  client: Client,
  where: { readonly server: string; readonly setting: string },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const timeoutMs = firstMs;
  const ask = async <T>(what: string, grant: string, question: () => Promise<T>): Promise<T> => {
    try {
      return await question();
    } catch (error) {
      signal.throwIfAborted();
      throw refusal(error, { ...where, what, grant });
    }
  };
  const trust = await ask(
    `read ConfigMap ${trustNamespace}/${trustConfigMap}`,
    `bind Role ${trustNamespace}/extension-apiserver-authentication-reader to it`,
    () =>
      new ResourceClient(client, configMaps).get(
        { namespace: trustNamespace, name: trustConfigMap, timeoutMs },
        signal,
      ),
  );
  await ask("list namespaces", "grant get, list and watch on namespaces", async () => {
    const pages = new ResourceClient(client, namespaces).pages({ limit: 1, timeoutMs }, signal);
    for await (const _ of pages) return;
  });
  const nobody = { name: "system:anonymous", uid: "", groups: [], extra: {} };
  const attributes = { isResource: false, verb: "get", path: "/" } as const;
  for (const { path, body } of [accessReview(nobody, attributes), tokenReview("none")]) {
    await ask(
      `create ${path.split("/").at(-1)}`,
      "bind ClusterRole system:auth-delegator to it",
      () =>
        client.call(
          {
            method: "POST",
            path,
            headers: { accept: "application/json", "content-type": "application/json" },
            body: JSON.stringify(body),
            timeoutMs,
          },
          signal,
        ),
    );
  }
  const data = dataOf(trust);
  if ((data["requestheader-client-ca-file"] ?? "") === "") {
    throw new StartError(
      "HOST_UNAVAILABLE",
      `the host cluster at ${where.server} has no front proxy, so it cannot pass requests on: start its kube-apiserver with --requestheader-client-ca-file`,
    );
  }
  return data;
}

function refusal(
  error: unknown,
  about: {
    readonly server: string;
    readonly setting: string;
    readonly what: string;
    readonly grant: string;
  },
): StartError {
  const { server, setting, what, grant } = about;
  const say = (text: string): StartError =>
    new StartError("HOST_UNAVAILABLE", text, { cause: error });
  if (hasCode(error, 401)) {
    return say(
      `the host cluster at ${server} does not know us: the credentials found by ${setting} are wrong or expired`,
    );
  }
  if (hasCode(error, 403)) {
    return say(`the host cluster at ${server} does not let us ${what}: ${grant}`);
  }
  if (isNotFound(error)) {
    return say(
      `the host cluster at ${server} has nothing there when we ${what}: is it a Kubernetes API server`,
    );
  }
  if (error instanceof StatusError) {
    return say(`the host cluster at ${server} answered ${error.status.code} when we ${what}`);
  }
  const why = error instanceof Error ? error.message : String(error);
  return say(`the host cluster at ${server}, found by ${setting}, cannot be reached: ${why}`);
}
