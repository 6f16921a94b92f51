// The flags of commands that run servers: one for each setting, and the way from there to a configuration.

import { Option, type Command } from "commander";
import { loadConfig, type Config } from "../config.ts";
import type { Flags } from "../config/given.ts";
import type { Purpose } from "../config/rules.ts";
import { flagOf, variableOf, type Setting } from "../config/setting.ts";
import { groups } from "../config/settings.ts";
import type { CommandContext } from "./command-context.ts";

/** One flag per setting, under the heading of its part. */
export function withSettings(command: Command): Command {
  command.option(
    "--config <file>",
    "configuration file (KEELSON_CONFIG; default keelson.config.yaml)",
  );
  for (const [heading, members] of Object.entries(groups)) {
    command.optionsGroup(`${heading}:`);
    for (const [key, setting] of Object.entries(members) as [string, Setting<unknown>][]) {
      command.addOption(
        new Option(`--${flagOf(key)} ${placeholderOf(setting)}`, helpOf(key, setting)),
      );
      for (const flag of setting.flagAliases ?? []) {
        command.addOption(new Option(`--${flag} ${placeholderOf(setting)}`).hideHelp());
      }
    }
  }
  return command.helpOption("-h, --help", "print this help");
}

function placeholderOf({ kind }: Setting<unknown>): string {
  return kind.name === "true or false" ? "[true|false]" : `<${kind.name}>`;
}

function helpOf(key: string, { help, default: standard }: Setting<unknown>): string {
  const shown = typeof standard === "string" ? `; default ${standard}` : "";
  return `${help} (${variableOf(key)}${shown})`;
}

/** Throws a `ConfigError` with every problem. */
export function configOf(
  options: object,
  { environment, workingFolder, isWatched }: CommandContext,
  purpose: Purpose,
): Promise<Config> {
  const flags = flagsFrom(options);
  return loadConfig({ flags, environment, workingFolder, purpose, isTerminal: isWatched });
}

/** Flags by their names; one without a value, which only switches have, is `true`. */
function flagsFrom(options: object): Flags {
  return Object.fromEntries(
    Object.entries(options as Record<string, unknown>).map(([key, value]) => [
      flagOf(key),
      String(value),
    ]),
  );
}
