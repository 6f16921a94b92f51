// The only place where flags, variables and the configuration file become settings. What it returns is checked as a
// whole, frozen, and knows where each value came from.

import { delimiter, resolve } from "node:path";

import type { EnvironmentProxies } from "@keelson/client";

import { ConfigError } from "./config/config-error.ts";
import type { ConfiguredTarget } from "./config/configured-targets.ts";
import { fromFile } from "./config/file.ts";
import { fromEnvironment, fromFlags, type Environment, type Flags } from "./config/given.ts";
import { resolveSettings, type Sources } from "./config/resolve.ts";
import { brokenRules, type Purpose } from "./config/rules.ts";
import type { Values } from "./config/settings.ts";

/** The value of every setting, and where each came from. Deeply frozen. */
export interface Config extends Values {
  readonly sources: Sources;
  /** The configuration file that was read, if there was one. */
  readonly configFile: string | undefined;
  /** The files of `KUBECONFIG`, as kubectl reads it: where a host cluster may be found. */
  readonly hostKubeconfigs: readonly string[];
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as everybody reads them: on the way to clusters. */
  readonly proxies: EnvironmentProxies;
  /** The clusters that the configuration file names. */
  readonly targets: readonly ConfiguredTarget[];
}

export interface ConfigInput {
  /** Flags by name without dashes; `config` names the file. */
  readonly flags: Flags;
  readonly environment: Environment;
  readonly workingFolder: string;
  /** What it is read for: `show` lacks the rules of starting. */
  readonly purpose: Purpose;
  /** Whether a person is watching. */
  readonly isTerminal: boolean;
}

/** Reads the configuration. Throws a `ConfigError` with every problem. */
export async function loadConfig(input: ConfigInput): Promise<Config> {
  const { environment, workingFolder: folder, purpose, isTerminal } = input;
  const { fromAll, file } = await gather(input);
  const { values, sources, problems, unread } = resolveSettings(
    fromAll.flatMap(({ given }) => given),
    { isTerminal, folder },
  );
  const all = [...fromAll.flatMap(({ problems }) => problems), ...problems];
  all.push(...brokenRules({ values, sources, purpose }, unread));
  if (all.length > 0) throw new ConfigError(all);
  const hostKubeconfigs = (environment["KUBECONFIG"] ?? "")
    .split(delimiter)
    .filter((path) => path !== "")
    .map((path) => resolve(folder, path));
  const proxies = proxiesOf(environment);
  const { path: configFile, targets } = file;
  return deepFreeze({ ...values, sources, configFile, hostKubeconfigs, proxies, targets });
}

/**
 * Where the data folder is, for commands that look for what runs on it: what is wrong with other settings is for whoever starts
 * a server. Names that nobody knows are told all the same, since the folder may be meant. Throws a `ConfigError`.
 */
export async function loadDataDir(input: GatherInput): Promise<string> {
  const { fromAll } = await gather(input);
  const problems = fromAll
    .flatMap((one) => one.problems)
    // A plain variable, as METRICS_ADDR, is none of the folder's.
    .filter(({ field }) => !/^(?!KEELSON_)[A-Z_]+$/.test(field));
  const given = fromAll.flatMap((one) => one.given).filter(({ key }) => key === "dataDir");
  const resolved = resolveSettings(given, { isTerminal: false, folder: input.workingFolder });
  problems.push(...resolved.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return resolved.values.dataDir;
}

type GatherInput = Pick<ConfigInput, "flags" | "environment" | "workingFolder">;

/** What was given, by flags, variables and the file, before anybody judges it. */
async function gather({ flags, environment, workingFolder: folder }: GatherInput) {
  const named = flags["config"] ?? (environment["KEELSON_CONFIG"] || undefined);
  const file = await fromFile(named, folder);
  return { fromAll: [fromFlags(flags, folder), fromEnvironment(environment, folder), file], file };
}

/** In capitals, else in small letters. */
function proxiesOf(environment: Environment): EnvironmentProxies {
  const find = (name: string): string => environment[name] || environment[name.toLowerCase()] || "";
  const [httpsProxy, httpProxy] = [find("HTTPS_PROXY"), find("HTTP_PROXY")];
  return { httpsProxy, httpProxy, noProxy: find("NO_PROXY") };
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null) deepFreeze(part as object);
  }
  return Object.freeze(value);
}
