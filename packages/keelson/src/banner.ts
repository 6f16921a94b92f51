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
  const { rest = "", metrics } = addresses;
  const rows: [string, string][] = [
    ["REST API", `${rest}  ${accessOf(config)}`],
    ["Metrics", metrics === undefined ? "off" : `${metrics}/metrics`],
    ["Database", databaseOf(config)],
    ["Store", config.storageDriver === "sqlite" ? config.sqlitePath : "PostgreSQL"],
    ["Events", config.eventTransport],
    ["Data", `${config.dataDir}  (run.json there has every address)`],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
  return [
    `keelson ${version} is ready, after ${(elapsedMs / 1_000).toFixed(1)} s`,
    "",
    ...lines,
    "",
    `  Try       curl '${rest}/readyz?verbose'`,
    "  Stop      Ctrl-C",
    "",
  ].join("\n");
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
