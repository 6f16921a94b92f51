// `keelson doctor`: what is installed, reachable and misconfigured here, and what mends it.

import type { Json } from "@keelson/base";
import type { Config } from "../../config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readRunFile, RunFileUnreadable } from "../../run-file.ts";
import { quietFailure } from "../command-error.ts";
import type { CommandContext } from "../command-context.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintFor, type Colour } from "../output/paint.ts";
import { Table } from "../output/table.ts";
import { checkServer, checkTargets, unknownServer } from "./check-clusters.ts";
import { checkDataDir, checkEmbedded } from "./check-data-dir.ts";
import { checkDatabase, checkStoreDatabase } from "./check-database.ts";
import { checkFiles, checkKubeconfig } from "./check-files.ts";
import { checkClock, checkKubectl, checkNode } from "./check-machine.ts";
import { checkPorts } from "./check-ports.ts";
import { failed, ok, type Finding } from "./finding.ts";

export interface DoctorOptions {
  readonly output: Output;
  /** Reads the settings. Throws a `ConfigError`. */
  readonly readConfig: () => Promise<Config>;
}

/** Shows every finding, and fails quietly if one of them keeps Keelson from working. */
export async function doctor(
  context: CommandContext,
  { output, readConfig }: DoctorOptions,
  signal: AbortSignal,
): Promise<void> {
  const terminal = context.openTerminal();
  const findings = await examine(context, readConfig, signal);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText({ findings: findings as unknown as Json }, output));
  } else if (output === "name") {
    const wrong = findings.filter(({ state }) => state !== "ok");
    terminal.write(wrong.map(({ check }) => `${check}\n`).join(""));
  } else {
    const paint = paintFor(terminal);
    const table = new Table<Finding>([
      {
        heading: "STATE",
        of: ({ state }) => state,
        paint: (text, { state }) => paint(colours[state], text),
      },
      { heading: "CHECK", of: ({ check }) => check },
      { heading: "FOUND", of: ({ found }) => found },
    ]);
    terminal.write(table.first(findings));
    const mends = new Set(
      findings.flatMap(({ check, fix }) => (fix === null ? [] : [`${check}: ${fix}`])),
    );
    for (const mend of mends) terminal.write(`\n${mend}`);
    if (mends.size > 0) terminal.write("\n");
  }
  if (findings.some(({ state }) => state === "failed")) throw quietFailure();
}

const colours: Readonly<Record<Finding["state"], Colour>> = {
  ok: "green",
  warning: "yellow",
  failed: "red",
};

async function examine(
  { clock, environment }: CommandContext,
  readConfig: () => Promise<Config>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const machine = [checkNode(), await checkKubectl(environment["PATH"])];
  let config: Config;
  try {
    config = await readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Without settings nobody knows where to look for the rest.
    const wrong = error.problems.map(({ field, message, fix }) =>
      failed(
        "settings",
        `${field} ${message}`,
        fix === undefined ? "docs/reference/settings.md tells what each takes" : `${field}: ${fix}`,
      ),
    );
    return [...machine, ...wrong, await checkClock(clock.now(), [])];
  }
  const settings = ok("settings", config.configFile ?? "variables and defaults, no file");
  const found = await readRunFile(config.dataDir).catch((error: unknown) => {
    if (error instanceof RunFileUnreadable) return error;
    throw error;
  });
  const isUnknown = found instanceof RunFileUnreadable;
  const running = isUnknown ? undefined : found;
  const { databaseUrl } = config;
  const database =
    databaseUrl === undefined ? undefined : await checkDatabase(databaseUrl, config, signal);
  const storeDatabase = await checkStoreDatabase(config, clock, signal);
  const atMs = database?.atMs;
  return [
    ...machine,
    settings,
    await checkDataDir(config, running),
    await checkEmbedded(config),
    ...(database === undefined ? [] : [database.finding]),
    ...(storeDatabase === undefined ? [] : [storeDatabase]),
    ...(await checkPorts(config, running)),
    ...(await checkFiles(config)),
    ...(await checkKubeconfig(config)),
    ...(await checkTargets(config, clock)),
    isUnknown ? unknownServer(found) : await checkServer(running, clock, signal),
    await checkClock(clock.now(), atMs === undefined ? [] : [{ whose: "PostgreSQL", atMs }]),
  ];
}
