// Every name that an app gets anywhere, from its own and its environment. No other file puts such a name together.

import type { Environment } from "../kinds/application.ts";
import { StepError } from "../steps/step-error.ts";

/** What names are made of. */
export interface Named {
  /** `my-app`: for a preview the name of its parent. */
  readonly app: string;
  readonly environment: Environment;
  /** Of a preview. */
  readonly pullRequest?: number;
  /** The unprefixed schema, where it is not the name. */
  readonly schemaName?: string;
  /** The domain, where it is not derived. */
  readonly domain?: string;
}

export interface NamingOptions {
  readonly baseDomain: string;
  readonly previewHosts: "nested" | "single-label";
}

/** The names of one app in one environment. */
export interface Names {
  /** Of the app and most of its children; a preview's has the number of the pull request. */
  readonly name: string;
  readonly schema: string;
  /** Logs in. */
  readonly appRole: string;
  /** Does not log in. */
  readonly anonRole: string;
  readonly realm: string;
  readonly client: string;
  readonly domain: string;
  /** Of a preview: where its children live. */
  readonly namespace: string | undefined;
  readonly searchPrefix: string;
  readonly children: ChildNames;
  bucket(bucket: string): string;
}

export interface ChildNames {
  readonly database: string;
  readonly storage: string;
  readonly storageKeys: string;
  readonly auth: string;
  readonly redis: string;
  readonly search: string;
  readonly api: string;
  readonly tls: string;
  /** The user's own variables. */
  readonly env: string;
}

export function namesOf(named: Named, options: NamingOptions): Names {
  const { app, environment, pullRequest } = named;
  if (environment === "preview" && pullRequest === undefined) {
    throw new Error(`a preview of ${app} has no name without its pull request`);
  }
  const isPreview = pullRequest !== undefined;
  const name = isPreview ? `${app}-pr${pullRequest}` : app;
  // Previews add none: their name has the number.
  const prefix = isPreview ? "" : `${prefixOf(environment)}_`;
  const role = `${prefix}${underscored(name)}`;
  const schema = named.schemaName ?? underscored(app);
  return {
    name,
    schema: `${prefix}${schema}${isPreview ? `_pr${pullRequest}` : ""}`,
    appRole: `${role}_app`,
    anonRole: `${role}_anon`,
    realm: realmOf(name, environment),
    client: name,
    domain: hostOf(named, options),
    namespace: isPreview ? `preview-${app}-pr-${pullRequest}` : undefined,
    searchPrefix: `${role}_`,
    children: namesOfChildren(name),
    bucket: (bucket) => `plattr-${prefixOf(environment)}-${name}-${bucket}`,
  };
}

/** The Secret in the operator's namespace that lets apps use an identity provider. */
export function providerSecretName(provider: string): string {
  return `plattr-idp-${provider}`;
}

/** `S3_BUCKET_USER_UPLOADS` for `user-uploads`: no two buckets share one, since their names have no underscore. */
export function bucketVariable(bucket: string, prefix = "S3_BUCKET_"): string {
  return `${prefix}${underscored(bucket).toUpperCase()}`;
}

/** Of an app of that name, be it a preview or not. */
export function namesOfChildren(name: string): ChildNames {
  return {
    database: `${name}-db`,
    storage: `${name}-storage`,
    storageKeys: `${name}-s3`,
    auth: `${name}-auth`,
    redis: `${name}-redis`,
    search: `${name}-search`,
    api: `${name}-api`,
    tls: `${name}-tls`,
    env: `${name}-env`,
  };
}

/** Of Keycloak's own realm, which holds its administrators, nobody may have the name. */
function realmOf(name: string, environment: Environment): string {
  const realm = environment === "production" ? name : `${name}-${environment}`;
  if (realm !== "master") return realm;
  throw new StepError("InvalidSpec", `realm ${realm} is Keycloak's own: choose another name`);
}

/** The host alone: of what nobody has judged yet, too. */
export function hostOf(
  { app, environment, pullRequest, domain }: Omit<Named, "schemaName">,
  { baseDomain, previewHosts }: NamingOptions,
): string {
  if (domain !== undefined) return domain;
  if (pullRequest !== undefined) {
    const host =
      previewHosts === "nested" ? `pr-${pullRequest}.${app}` : `${app}-pr-${pullRequest}`;
    return `${host}.preview.${baseDomain}`;
  }
  return environment === "production"
    ? `${app}.${baseDomain}`
    : `${app}.${environment}.${baseDomain}`;
}

function prefixOf(environment: Environment): string {
  return environment === "production" ? "prod" : environment;
}

function underscored(name: string): string {
  return name.replaceAll("-", "_");
}
