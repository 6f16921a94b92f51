// The operator as the configuration wants it: which cluster, which services, whether others may stand by.

import { hostname } from "node:os";
import { pid } from "node:process";
import type { Clock, Log, Metrics, Random } from "@keelson/base";
import {
  BadKubeconfig,
  Client,
  isAlreadyExists,
  loadKubeconfig,
  type Access,
  type KubeconfigSource,
} from "@keelson/client";
import { Operator } from "@keelson/platform";
import type { Config } from "./config.ts";
import type { Check } from "./health.ts";
import { elects, operatorSettings, type OwnServices } from "./operator-settings.ts";
import { StartError } from "./start-error.ts";

export interface StartOperatorOptions {
  readonly config: Config;
  /** Left out: the cluster of the kubeconfig, and only the services that are configured. */
  readonly own: OwnServices | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface StartedOperator {
  /** Ready: it has seen everything, or stands by. */
  readonly check: Check;
  /** Until `signal`; then what is under way ends, and the Lease is given back. */
  run(signal: AbortSignal): Promise<void>;
}

/** Throws a `StartError` for what a user can act on. */
export async function startOperator(
  options: StartOperatorOptions,
  signal: AbortSignal,
): Promise<StartedOperator> {
  const { config, own, clock, random, metrics } = options;
  const log = options.log.child({ part: "operator" });
  const access = own?.access ?? (await accessOf(options));
  const settings = operatorSettings(config, own);
  const openClient: ConstructorParameters<typeof Operator>[0]["openClient"] = (more) =>
    new Client({
      access,
      clock,
      random,
      metrics,
      userAgent: "plattr-operator",
      rateLimit: { perSecond: 500, burst: 1_000 },
      ...more,
    });
  if (own !== undefined) await makeNamespace(openClient({}), settings.namespace, signal);
  const operator = new Operator({
    settings,
    openClient,
    identity: `${hostname()}_${pid}_${random.uuid()}`,
    elects: elects(config, own),
    clock,
    random,
    log,
    metrics,
  });
  return {
    check: {
      name: "operator",
      run: async () => {
        if (!operator.isReady) throw new Error("the operator has not seen all that is there");
      },
    },
    run: (within) => operator.run(within),
  };
}

/** In a process of its own: `--kubeconfig`, else as kubectl finds it, else as a Pod does. */
async function accessOf({ config, clock }: StartOperatorOptions): Promise<Access> {
  const { kubeconfig, hostKubeconfigs, proxies } = config;
  const [source, where]: [KubeconfigSource, string] =
    kubeconfig !== undefined
      ? [{ files: [kubeconfig] }, "--kubeconfig"]
      : hostKubeconfigs.length > 0
        ? [{ files: hostKubeconfigs }, "KUBECONFIG"]
        : [{ inCluster: true }, "the service account of a Pod"];
  try {
    return await loadKubeconfig(source, { clock, proxies });
  } catch (error) {
    if (!(error instanceof BadKubeconfig)) throw error;
    throw new StartError(
      "USAGE",
      `the operator's cluster cannot be found by ${where}: ${error.message}: give its kubeconfig with --kubeconfig (KEELSON_KUBECONFIG)`,
      { cause: error },
    );
  }
}

async function makeNamespace(client: Client, name: string, signal: AbortSignal): Promise<void> {
  await using _client = client;
  const kind = { apiVersion: "v1", kind: "Namespace" } as const;
  const namespaces = await client.resource(kind, signal);
  if ((await namespaces.find({ name }, signal)) !== undefined) return;
  try {
    await namespaces.create({ ...kind, metadata: { name } }, {}, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
