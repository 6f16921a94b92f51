// Kubeconfigs: files, several merged, texts, and what a Pod finds in its cluster. Reading them and running their
// plugins is `@kubernetes/client-node`'s work; it costs 0.4 s to load, so it is loaded when first needed.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";

import { isJsonArray, isJsonObject, type Clock, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";

import type { Access, Credential } from "./credentials.ts";
import { execInfo } from "./exec-info.ts";
import { textOf, textsOf } from "./json-parts.ts";
import { KubeconfigCredentials, type Reading } from "./kubeconfig-credentials.ts";
import { BadKubeconfig, entriesOf, refuseReach } from "./kubeconfig-document.ts";
import type { OidcSettings } from "./oidc.ts";
import { environmentProxy, proxyUrlOf, type EnvironmentProxies } from "./proxy.ts";

/**
 * Where the word comes from. Of several files the first to name a thing wins, as with kubectl; missing ones are skipped. A Pod finds
 * its account below `root` and its server in the environment, unless they are named.
 */
export type KubeconfigSource =
  | { readonly files: readonly string[] }
  | { readonly text: string }
  | { readonly inCluster: true; readonly root?: string; readonly server?: string };

export interface KubeconfigOptions {
  readonly clock: Clock;
  /** Left out: the current one. */
  readonly context?: string;
  /**
   * What the kubeconfig may do on this machine: `anything`, or only speak for itself (`data`): then plugins that
   * run programs and paths of files are refused. A text that somebody sent us must not read our files.
   */
  readonly trust?: "anything" | "data";
  /** The proxies of the environment; one that the kubeconfig names goes before. */
  readonly proxies?: EnvironmentProxies;
}

/** Reads a kubeconfig. Rejects with `BadKubeconfig` when it names no cluster that we could reach. */
export async function loadKubeconfig(
  source: KubeconfigSource,
  options: KubeconfigOptions,
): Promise<Access> {
  const { trust = "anything", proxies = {}, clock, context } = options;
  const load = async (): Promise<Chosen> => choose(await read(source, trust), context);
  const chosen = await load();
  const { server, namespace } = chosen;
  const proxyUrl = proxyOf(chosen, proxies);
  return {
    server,
    ...(namespace === undefined ? {} : { namespace }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    credentials: new KubeconfigCredentials({ first: chosen, read: load, clock, proxies }),
  };
}

/** One context, and what it takes to be its user. */
interface Chosen extends Reading {
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly namespace: string | undefined;
}

interface Config {
  readonly config: KubeConfig;
  readonly clusters: ReadonlyMap<string, JsonObject>;
  readonly users: ReadonlyMap<string, WrittenUser>;
}

/** A user as it is written, with what the reader does not know about. */
interface WrittenUser {
  readonly said: JsonObject;
  /** Where it is written, if in a file: paths in it are relative to that. */
  readonly file: string | undefined;
}

function proxyOf(
  { server, proxyUrl = "" }: Chosen,
  proxies: EnvironmentProxies,
): string | undefined {
  try {
    return proxyUrl === "" ? environmentProxy(server, proxies) : proxyUrlOf(proxyUrl);
  } catch (cause) {
    throw new BadKubeconfig(`the proxy on the way to ${server} cannot be used`, { cause });
  }
}

async function read(source: KubeconfigSource, trust: "anything" | "data"): Promise<Config> {
  if ("inCluster" in source) {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromCluster(source.root);
    const { server } = source;
    if (server !== undefined) {
      config.clusters = config.clusters.map((cluster) => ({ ...cluster, server }));
    }
    if (!URL.canParse(config.getCurrentCluster()?.server ?? "")) {
      throw new BadKubeconfig(
        server === undefined
          ? "this is no Pod of a cluster: KUBERNETES_SERVICE_HOST is not set"
          : `the server of a Pod must be a URL, not ${server}`,
      );
    }
    return { config, clusters: new Map(), users: new Map() };
  }
  if ("text" in source) return await parse(source.text, { trust, file: undefined });
  const configs: Config[] = [];
  for (const file of source.files) {
    const text = await readFile(file, "utf8").catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new BadKubeconfig(`kubeconfig ${file} cannot be read`, { cause });
    });
    if (text !== undefined) configs.push(await parse(text, { trust, file: resolve(file) }));
  }
  const [first, ...others] = configs;
  if (first === undefined) {
    throw new BadKubeconfig(`there is no kubeconfig at ${source.files.join(", ") || "no file"}`);
  }
  return others.reduce(merge, first);
}

/** What the first names stays; what only the second names is added. */
function merge(first: Config, second: Config): Config {
  const { config } = first;
  for (const cluster of second.config.clusters) {
    if (config.getCluster(cluster.name) === null) config.addCluster(cluster);
  }
  for (const user of second.config.users) {
    if (config.getUser(user.name) === null) config.addUser(user);
  }
  for (const context of second.config.contexts) {
    if (config.getContextObject(context.name) === null) config.addContext(context);
  }
  if ((config.currentContext ?? "") === "") config.setCurrentContext(second.config.currentContext);
  return {
    config,
    clusters: new Map([...second.clusters, ...first.clusters]),
    users: new Map([...second.users, ...first.users]),
  };
}

async function parse(
  text: string,
  { trust, file }: { trust: "anything" | "data"; file: string | undefined },
): Promise<Config> {
  const { KubeConfig, loadYaml } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  try {
    const written = isBlank(text) ? "{}" : text; // As kubectl makes a new one.
    const document = loadYaml<Json | undefined>(written);
    if (!isJsonObject(document)) throw new BadKubeconfig("a kubeconfig must be an object");
    if (trust === "data") refuseReach(document);
    // An entry that is not finished is in nobody's way as long as nobody uses it.
    config.loadFromString(written, { onInvalidEntry: "filter" });
    if (file !== undefined) config.makePathsAbsolute(dirname(file));
    const clusters = entriesOf(document, "clusters", "cluster").map(
      ({ name, value }) => [name, value] as const,
    );
    const users = entriesOf(document, "users", "user").map(
      ({ name, value }) => [name, { said: value, file }] as const,
    );
    return { config, clusters: new Map(clusters), users: new Map(users) };
  } catch (cause) {
    if (cause instanceof BadKubeconfig) throw cause;
    throw new BadKubeconfig("the kubeconfig cannot be understood", { cause });
  }
}

function isBlank(text: string): boolean {
  return text.split("\n").every((line) => /^\s*(#.*)?$/.test(line));
}

/** What the reader does not do for a user: files of tokens, paths of plugins, and what plugins are told. */
function extend(
  user: User,
  { said, file }: WrittenUser,
  cluster: { readonly known: Cluster; readonly written: JsonObject },
): void {
  const tokenFile = textOf(memberOf(said, "tokenFile"));
  if (tokenFile !== "") {
    // The file wins over a token beside it, as with kubectl.
    Object.assign(user, {
      token: undefined,
      authProvider: { name: "tokenFile", config: { tokenFile: absolute(tokenFile, file) } },
    });
  }
  if (user.authProvider?.name === "oidc") Object.assign(user, { authProvider: undefined }); // Ours.
  const exec = memberOf(said, "exec");
  if (!isJsonObject(exec)) return;
  const command = memberOf(exec, "command");
  const env = memberOf(exec, "env");
  const { known, written } = cluster;
  const { server, caData = "", caFile = "" } = known;
  const ca = caData === "" ? fileText(caFile) : Buffer.from(caData, "base64").toString("utf8");
  const told = JSON.stringify(execInfo(exec, { server, ca, written }));
  Object.assign(user, {
    exec: {
      ...exec,
      command:
        typeof command === "string" && command.includes("/") ? absolute(command, file) : command,
      env: [...(isJsonArray(env) ? env : []), { name: "KUBERNETES_EXEC_INFO", value: told }],
    },
  });
}

/** The `oidc` auth provider of a user. */
function oidcOf({ said, file }: WrittenUser): Reading["oidc"] {
  const provider = memberOf(said, "auth-provider");
  if (!isJsonObject(provider) || memberOf(provider, "name") !== "oidc") return undefined;
  const config = memberOf(provider, "config");
  const text = (name: string): string => textOf(isJsonObject(config) ? memberOf(config, name) : "");
  const issuerUrl = text("idp-issuer-url");
  const clientId = text("client-id");
  if (!/^https:\/\/./.test(issuerUrl)) {
    throw new BadKubeconfig("an oidc user needs an idp-issuer-url with https");
  }
  if (clientId === "") throw new BadKubeconfig("an oidc user needs a client-id");
  const caFile = text("idp-certificate-authority");
  const ca = Buffer.from(text("idp-certificate-authority-data"), "base64").toString("utf8");
  const optional = {
    clientSecret: text("client-secret"),
    idToken: text("id-token"),
    refreshToken: text("refresh-token"),
    caFile: caFile === "" ? "" : absolute(caFile, file),
    ca,
  };
  const given = Object.entries(optional).filter(([, value]) => value !== "");
  const settings: OidcSettings = { issuerUrl, clientId, ...Object.fromEntries(given) };
  return { settings, file };
}

function absolute(path: string, file: string | undefined): string {
  return file === undefined || isAbsolute(path) ? path : resolve(dirname(file), path);
}

function fileText(path: string): string | undefined {
  if (path === "") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new BadKubeconfig(`the certificate-authority ${path} cannot be read`, { cause });
  }
}

function impersonationOf(said: JsonObject): Credential["headers"] {
  const headers: Record<string, string | string[]> = {};
  const uid = memberOf(said, "as-uid");
  const groups = memberOf(said, "as-groups");
  const extra = memberOf(said, "as-user-extra");
  if (typeof uid === "string") headers["impersonate-uid"] = uid;
  if (isJsonArray(groups)) headers["impersonate-group"] = [...textsOf(groups)];
  if (isJsonObject(extra)) {
    for (const [key, values] of Object.entries(extra)) {
      const name = `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`;
      headers[name] = [...textsOf(values)];
    }
  }
  return headers;
}

function choose({ config, clusters, users }: Config, context: string | undefined): Chosen {
  if (context !== undefined) config.setCurrentContext(context);
  const name = config.getCurrentContext();
  const chosen = config.getContextObject(name);
  if (chosen === null) {
    throw new BadKubeconfig(
      (name ?? "") === "" ? "the kubeconfig has no current context" : `there is no context ${name}`,
    );
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new BadKubeconfig(`context ${name} names no cluster that is there`);
  if (!/^https?:\/\/./.test(cluster.server) || !URL.canParse(cluster.server)) {
    throw new BadKubeconfig(`cluster ${cluster.name} has no server with http or https`);
  }
  const user = config.getCurrentUser();
  const written = users.get(chosen.user);
  if (user !== null && written !== undefined) {
    extend(user, written, { known: cluster, written: clusters.get(cluster.name) ?? {} });
  }
  const impersonation = impersonationOf(written?.said ?? {});
  return {
    server: cluster.server,
    proxyUrl: cluster.proxyUrl,
    namespace: chosen.namespace?.trim(),
    oidc: written === undefined ? undefined : oidcOf(written),
    credential: () => credentialOf(config, impersonation),
  };
}

/** Asks the reader: it reads files, runs plugins and refreshes tokens as its user says. */
async function credentialOf(
  config: KubeConfig,
  impersonation: Credential["headers"],
): Promise<Credential> {
  const cluster = config.getCurrentCluster();
  const isPlain = cluster?.server.startsWith("http:") === true;
  const options: ReaderOptions = { headers: {} };
  try {
    // It refuses to make an agent for plain HTTP unless it is told that nothing is verified, which is so.
    const reader = isPlain ? withoutVerification(config) : config;
    await reader.applyToHTTPSOptions(options as Parameters<KubeConfig["applyToHTTPSOptions"]>[0]);
  } catch (cause) {
    throw new BadKubeconfig("the credentials of the kubeconfig cannot be had", { cause });
  }
  const headers: Record<string, string | readonly string[]> = { ...impersonation };
  for (const [name, value] of Object.entries(options.headers)) {
    headers[name.toLowerCase()] = String(value).trim(); // Files of tokens end in a newline.
  }
  if (options.auth !== undefined && options.auth !== null) {
    headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  }
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    headers,
    tls: {
      ...pem("ca", ca),
      ...pem("certificate", cert),
      ...pem("key", key),
      ...pem("serverName", servername),
      ...(rejectUnauthorized === false ? { isInsecure: true } : {}),
    },
  };
}

interface ReaderOptions {
  readonly headers: Record<string, unknown>;
  readonly auth?: string | null;
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

function withoutVerification(config: KubeConfig): KubeConfig {
  for (const cluster of config.clusters) Object.assign(cluster, { skipTLSVerify: true });
  return config;
}

function pem<K extends string>(
  name: K,
  value: Buffer | string | null | undefined,
): Partial<Record<K, string>> {
  if (value === undefined || value === null) return {};
  return { [name]: value.toString() } as Partial<Record<K, string>>;
}
