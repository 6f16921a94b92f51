// Kubeconfigs: files, several merged, texts, and what a Pod finds in its cluster. Reading them and running their
// plugins is `@kubernetes/client-node`'s work; it costs 0.4 s to load, so it is loaded when first needed.

import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";

import { isJsonArray, isJsonObject, type Clock, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";
import type { Context, KubeConfig, User } from "@kubernetes/client-node";

import type { Access, Credential, Credentials } from "./credentials.ts";
import { textOf, textsOf } from "./json-parts.ts";
import { untilAbort } from "./until-abort.ts";

/** A kubeconfig that cannot be used, and why. It never quotes what is secret. */
export class BadKubeconfig extends Error {
  readonly code = "BAD_KUBECONFIG";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "BadKubeconfig";
  }
}

/** Where the word comes from. Of several files the first to name a thing wins, as with kubectl; missing ones are skipped. */
export type KubeconfigSource =
  | { readonly files: readonly string[] }
  | { readonly text: string }
  | { readonly inCluster: true; readonly root?: string };

export interface KubeconfigOptions {
  readonly clock: Clock;
  /** Left out: the current one. */
  readonly context?: string;
  /**
   * What the kubeconfig may do on this machine: `anything`, or only speak for itself (`data`): then plugins that
   * run programs and paths of files are refused. A text that somebody sent us must not read our files.
   */
  readonly trust?: "anything" | "data";
}

/** Credentials in force are asked for again after this long: files may have been replaced, tokens expired. */
const freshMs = 1_000;

/** Reads a kubeconfig. Rejects with `BadKubeconfig` when it names no cluster that we could reach. */
export async function loadKubeconfig(
  source: KubeconfigSource,
  options: KubeconfigOptions,
): Promise<Access> {
  const { trust = "anything" } = options;
  const load = async (): Promise<Loaded> => {
    const config = await read(source, trust);
    return choose(config, options.context);
  };
  const first = await load();
  const { cluster } = first;
  return {
    server: cluster.server,
    ...(first.namespace === undefined ? {} : { namespace: first.namespace }),
    ...(cluster.proxyUrl === undefined || cluster.proxyUrl === ""
      ? {}
      : { proxyUrl: cluster.proxyUrl }),
    credentials: new KubeconfigCredentials({ first, load, clock: options.clock }),
  };
}

/** The credentials of one context. One plugin runs at a time, whoever asks. */
class KubeconfigCredentials implements Credentials {
  readonly #load: () => Promise<Loaded>;
  readonly #clock: Clock;
  #loaded: Loaded | undefined;
  #held: { readonly credential: Credential; readonly atMs: number } | undefined;
  #asking: Promise<Credential> | undefined;

  constructor({
    first,
    load,
    clock,
  }: {
    first: Loaded;
    load: () => Promise<Loaded>;
    clock: Clock;
  }) {
    this.#loaded = first;
    this.#load = load;
    this.#clock = clock;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    signal.throwIfAborted();
    const held = this.#held;
    if (held !== undefined && this.#clock.monotonic() - held.atMs < freshMs) return held.credential;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return await untilAbort(this.#asking, signal);
  }

  renew(): void {
    // Files are read anew, and with the reader its memory of tokens goes too.
    this.#loaded = undefined;
    this.#held = undefined;
  }

  async #ask(): Promise<Credential> {
    const loaded = (this.#loaded ??= await this.#load());
    const credential = await credentialOf(loaded);
    if (this.#loaded === loaded) this.#held = { credential, atMs: this.#clock.monotonic() };
    return credential;
  }
}

interface Loaded {
  readonly config: KubeConfig;
  readonly cluster: { readonly server: string; readonly proxyUrl?: string };
  readonly user: ExtendedUser | undefined;
  readonly namespace: string | undefined;
}

/** A user with what the reader does not know about. */
interface ExtendedUser {
  readonly name: string;
  readonly impersonate: Readonly<Record<string, string | readonly string[]>>;
}

interface Config {
  readonly config: KubeConfig;
  readonly users: ReadonlyMap<string, ExtendedUser>;
}

async function read(source: KubeconfigSource, trust: "anything" | "data"): Promise<Config> {
  if ("inCluster" in source) {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromCluster(source.root);
    if (!URL.canParse(config.getCurrentCluster()?.server ?? "")) {
      throw new BadKubeconfig("this is no Pod of a cluster: KUBERNETES_SERVICE_HOST is not set");
    }
    return { config, users: new Map() };
  }
  if ("text" in source) return await parse(source.text, { trust, folder: undefined });
  const configs: Config[] = [];
  for (const file of source.files) {
    const text = await readFile(file, "utf8").catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new BadKubeconfig(`kubeconfig ${file} cannot be read`, { cause });
    });
    if (text !== undefined)
      configs.push(await parse(text, { trust, folder: dirname(resolve(file)) }));
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
  return { config, users: new Map([...second.users, ...first.users]) };
}

async function parse(
  text: string,
  { trust, folder }: { trust: "anything" | "data"; folder: string | undefined },
): Promise<Config> {
  const { KubeConfig, loadYaml } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const written = new Map<string, JsonObject>();
  try {
    const document = loadYaml<Json | undefined>(text);
    if (!isJsonObject(document)) throw new BadKubeconfig("a kubeconfig must be an object");
    if (trust === "data") refuseReach(document);
    for (const entry of entriesOf(document, "users", "user")) written.set(entry.name, entry.value);
    config.loadFromString(text);
  } catch (cause) {
    if (cause instanceof BadKubeconfig) throw cause;
    throw new BadKubeconfig("the kubeconfig cannot be understood", { cause });
  }
  if (folder !== undefined) config.makePathsAbsolute(folder);
  const users = new Map<string, ExtendedUser>();
  for (const user of config.users) {
    const said = written.get(user.name) ?? {};
    extend(user, said, { folder, config });
    users.set(user.name, { name: user.name, impersonate: impersonationOf(said) });
  }
  return { config, users };
}

/** What the reader does not do for a user: files of tokens, paths of plugins, and what plugins are told. */
function extend(
  user: User,
  said: JsonObject,
  { folder, config }: { folder: string | undefined; config: KubeConfig },
): void {
  const absolute = (path: string): string =>
    folder === undefined || isAbsolute(path) ? path : resolve(folder, path);
  const tokenFile = memberOf(said, "tokenFile");
  if (typeof tokenFile === "string" && tokenFile !== "") {
    // The file wins over a token beside it, as with kubectl.
    Object.assign(user, {
      token: undefined,
      authProvider: { name: "tokenFile", config: { tokenFile: absolute(tokenFile) } },
    });
  }
  const exec = memberOf(said, "exec");
  if (!isJsonObject(exec)) return;
  const command = memberOf(exec, "command");
  const env = memberOf(exec, "env");
  Object.assign(user, {
    exec: {
      ...exec,
      command: typeof command === "string" && command.includes("/") ? absolute(command) : command,
      env: [
        ...(isJsonArray(env) ? env : []),
        { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(execInfo(exec, user, config)) },
      ],
    },
  });
}

/** What a plugin is told: some refuse to work without. */
function execInfo(exec: JsonObject, user: User, config: KubeConfig): Json {
  const context = config.contexts.find((one: Context) => one.user === user.name);
  const cluster = context === undefined ? null : config.getCluster(context.cluster);
  const isTold = memberOf(exec, "provideClusterInfo") === true && cluster !== null;
  return {
    apiVersion: memberOf(exec, "apiVersion") ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: {
      interactive: false,
      ...(isTold
        ? {
            cluster: {
              server: cluster.server,
              ...(cluster.caData === undefined
                ? {}
                : { "certificate-authority-data": cluster.caData }),
            },
          }
        : {}),
    },
  };
}

function impersonationOf(said: JsonObject): ExtendedUser["impersonate"] {
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

function choose({ config, users }: Config, context: string | undefined): Loaded {
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
  return {
    config,
    cluster: {
      server: cluster.server,
      ...(cluster.proxyUrl === undefined ? {} : { proxyUrl: cluster.proxyUrl }),
    },
    user: users.get(chosen.user),
    namespace: chosen.namespace,
  };
}

/** Asks the reader: it reads files, runs plugins and refreshes tokens as its user says. */
async function credentialOf({ config, user }: Loaded): Promise<Credential> {
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
  const headers: Record<string, string | readonly string[]> = { ...user?.impersonate };
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

const reachingClusterFields = ["certificate-authority"];
const reachingUserFields = [
  "client-certificate",
  "client-key",
  "tokenFile",
  "token-file",
  "exec",
  "auth-provider",
];

/** Refuses whatever would make us read a file or run a program. */
function refuseReach(document: JsonObject): void {
  const refuse = (place: string, value: JsonObject, fields: readonly string[]): void => {
    const field = fields.find((name) => (memberOf(value, name) ?? "") !== "");
    if (field === undefined) return;
    throw new BadKubeconfig(`${place} uses ${field}, which is not allowed here`);
  };
  for (const { name, value } of entriesOf(document, "clusters", "cluster")) {
    refuse(`cluster ${name}`, value, reachingClusterFields);
  }
  for (const { name, value } of entriesOf(document, "users", "user")) {
    refuse(`user ${name}`, value, reachingUserFields);
  }
}

function entriesOf(
  document: JsonObject,
  list: string,
  member: string,
): { readonly name: string; readonly value: JsonObject }[] {
  const entries = memberOf(document, list);
  if (!isJsonArray(entries)) return [];
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    const value = memberOf(entry, member);
    return { name: textOf(memberOf(entry, "name")), value: isJsonObject(value) ? value : {} };
  });
}
