import { join, relative } from "node:path";
import { cwd } from "node:process";
import { isLoopbackHost } from "./loopback.ts";
import type { Config } from "./config.ts";
import type { Addresses } from "./run-file.ts";

export interface BannerOptions {
  readonly config: Config;
  readonly addresses: Addresses;
  readonly version: string;
  /** How long the start took. */
  readonly elapsedMs: number;
}

/** What a person who started us wants to know: where everything is, who may use it, what to try. */
export function banner({ config, addresses, version, elapsedMs }: BannerOptions): string {
  const { rest = "", metrics, kubernetes, kubeconfig = "" } = addresses;
  const rows: [string, string][] = [
    ["REST API", `${rest}  ${accessOf(config)}`],
    ...(kubernetes === undefined
      ? []
      : [
          ["Kubernetes", `${kubernetes}  (kubeconfig: ${shortPath(kubeconfig)})`] as [
            string,
            string,
          ],
        ]),
    ["Metrics", metrics === undefined ? "off" : `${metrics}/metrics`],
    ["Database", databaseOf(config)],
    ["Store", config.storageDriver === "sqlite" ? config.sqlitePath : "PostgreSQL"],
    ["Events", config.eventTransport],
    ["Data", `${config.dataDir}  (run.json there has every address)`],
  ];
  const flags = flagsFor(config);
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  return [
    `keelson ${version} is ready, after ${(elapsedMs / 1_000).toFixed(1)} s`,
    "",
    ...lines,
    "",
    `  Try        keelson target get${flags}            # in a checkout: npm run -s keelson -- target get${flags}`,
    `             keelson apply -f FILE --cluster local --wait${flags}`,
    ...(kubernetes === undefined
      ? []
      : [`             kubectl --kubeconfig ${typed(kubeconfig)} get namespaces`]),
    `             curl '${rest}/readyz?verbose'`,
    "  Stop       Ctrl-C",
    "",
  ].join("\n");
}

/** What commands need to find the server, and to be let in. */
function flagsFor({ dataDir, authMode }: Config): string {
  const folder = dataDir === join(cwd(), ".keelson") ? "" : ` --data-dir ${typed(dataDir)}`;
  return authMode === "token" || authMode === "oidc" ? `${folder} --token TOKEN` : folder;
}

/** A path as one would type it here, as one word of a shell. */
function typed(path: string): string {
  const short = shortPath(path);
  return /[^\w./-]/.test(short) ? `'${short.replaceAll("'", "'\\''")}'` : short;
}

/** A path as one would call it here. */
function shortPath(path: string): string {
  const below = relative(cwd(), path);
  return below === "" || below.startsWith("..") ? path : below;
}

function accessOf({ address, authMode }: Config): string {
  if (authMode !== "none") return `(authentication: ${authMode})`;
  return isLoopbackHost(address) ? "(no authentication, this machine only)" : "";
}

function databaseOf({ databaseUrl }: Config): string {
  if (databaseUrl === undefined) return "embedded PostgreSQL";
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${host}${pathname}`;
}
