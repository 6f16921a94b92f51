// The configuration as the operator takes it.

import { readFile } from "node:fs/promises";
import type { Access } from "@keelson/client";
import { adminUrlFromSecret, type OperatorSettings } from "@keelson/platform";
import type { Config } from "./config.ts";

/** What a process that runs everything supplies by itself. */
export interface OwnServices {
  /** The way to its Kubernetes API. */
  readonly access: Access;
  /** A database for apps, where it has a PostgreSQL of its own. */
  readonly databaseUrl: string | undefined;
}

/** A cluster in this process has no other operator, unless somebody says so. */
export function elects({ leaderElection, sources }: Config, own: OwnServices | undefined): boolean {
  return leaderElection && (own === undefined || sources.leaderElection.origin !== "default");
}

export function operatorSettings(config: Config, own: OwnServices | undefined): OperatorSettings {
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
