// The operator as the configuration wants it: which cluster, which services, whether others may stand by.

import { readFile } from "node:fs/promises";
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
import { adminUrlFromSecret, Operator, type OperatorSettings } from "@keelson/platform";
import type { Config } from "./config.ts";
import type { Check } from "./health.ts";
import { StartError } from "./start-error.ts";

/** What a process that runs everything supplies by itself. */
export interface OwnServices {
  /** The kubeconfig of its Kubernetes API. */
  readonly kubeconfig: string;
  /** A database for apps, where it has a PostgreSQL of its own. */
  readonly databaseUrl: string | undefined;
}

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
  const access = await accessOf(options);
  const settings = settingsOf(config, own);
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

/** A cluster in this process has no other operator, unless somebody says so. */
function elects({ leaderElection, sources }: Config, own: OwnServices | undefined): boolean {
  return leaderElection && (own === undefined || sources.leaderElection.origin !== "default");
}

/** In a process of its own: `--kubeconfig`, else as kubectl finds it, else as a Pod does. */
async function accessOf({ config, own, clock }: StartOperatorOptions): Promise<Access> {
  const { kubeconfig, hostKubeconfigs, proxies } = config;
  const [source, where]: [KubeconfigSource, string] =
    own !== undefined
      ? [{ files: [own.kubeconfig] }, own.kubeconfig]
      : kubeconfig !== undefined
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

function settingsOf(config: Config, own: OwnServices | undefined): OperatorSettings {
  const baseDomain = config.baseDomain ?? "localhost";
  return {
    baseDomain,
    previewHosts: config.previewHostStyle,
    ingressClass: config.ingressClass,
    ingressRewrite: config.ingressRewrite,
    clusterIssuer: config.clusterIssuer,
    previewTlsSecret: config.previewTlsSecret,
    appRoleArnTemplate: config.appRoleArnTemplate,
    namespace: config.operatorNamespace,
    concurrency: config.concurrency,
    previews: {
      ingressNamespace: config.ingressNamespace,
      quotaCpu: config.previewQuotaCpu,
      quotaMemory: config.previewQuotaMemory,
    },
    database: {
      adminUrl: adminUrlOf(config, own),
      host: config.appDbHost,
      port: config.appDbPort,
      database: config.appDbName,
      runnerImage: config.migrationImage,
    },
    storage: storageOf(config),
    auth: {
      access: keycloakOf(config),
      publicUrl: config.authPublicUrl ?? `https://auth.${baseDomain}`,
    },
    redis: { endpoint: config.redisEndpoint, tls: config.redisTls },
    search: { endpoint: config.opensearchEndpoint },
  };
}

/** All three or none: the rules of the configuration see to it. */
function keycloakOf(config: Config): OperatorSettings["auth"]["access"] {
  const {
    keycloakAdminUrl: url,
    keycloakAdminUser: user,
    keycloakAdminPassword: password,
  } = config;
  if (url === undefined || user === undefined || password === undefined) return undefined;
  return () => Promise.resolve({ url, user, password });
}

/** The region has a default, so somebody must have said that there is a store at all. */
function storageOf(config: Config): OperatorSettings["storage"] {
  const { awsRegion: region, awsEndpointUrl: endpoint, appS3Secret, sources } = config;
  if (endpoint === undefined && sources.awsRegion.origin === "default") return undefined;
  return { region, endpoint, appS3Secret };
}

/** The first that is set wins; a file or a secret is read each time, since passwords change. */
function adminUrlOf(
  config: Config,
  own: OwnServices | undefined,
): OperatorSettings["database"]["adminUrl"] {
  const { dbAdminUrl, dbAdminUrlFile, dbSecretArn } = config;
  if (dbAdminUrl !== undefined) return () => Promise.resolve(dbAdminUrl);
  if (dbAdminUrlFile !== undefined) {
    return async () => (await readFile(dbAdminUrlFile, "utf8")).trim();
  }
  if (dbSecretArn !== undefined) {
    const { awsRegion: region, awsEndpointUrl: endpoint } = config;
    const usual = { host: config.appDbHost, port: config.appDbPort, database: config.appDbName };
    return adminUrlFromSecret({ arn: dbSecretArn, region, endpoint, usual });
  }
  const url = own?.databaseUrl;
  return url === undefined ? undefined : () => Promise.resolve(url);
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
