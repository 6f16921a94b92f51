// The flags that commands which ask a server share, and what they mean.

import { InvalidArgumentError, Option, type Command } from "commander";
import { BadValue, positiveDuration } from "../config/kinds.ts";
import { outputs, type Output } from "./output/formats.ts";

export function withServer(command: Command): Command {
  return command
    .option("--server <url>", "the server's REST API (KEELSON_SERVER; else what runs here)")
    .option("--token <token>", "a token of that server (KEELSON_TOKEN)")
    .option("--as <email>", "who you are, for a server that believes everybody")
    .option("--data-dir <folder>", "where to look for what runs here (KEELSON_DATA_DIR)");
}

export interface OutputFlags {
  readonly output: Output;
}

export function withOutput(command: Command, choices: readonly Output[] = outputs): Command {
  const option = new Option("-o, --output <format>", "how to show it").choices(choices);
  return command.addOption(option.default("table"));
}

/** For whatever has no wider table: what was changed, settings, findings. */
export const changeOutputs = ["table", "json", "yaml", "name"] as const;

export interface WatchFlags {
  readonly watch?: true;
}

export function withWatch(
  command: Command,
  help = "then show what changes, until Ctrl-C",
): Command {
  return command.option("-w, --watch", help);
}

export interface WaitFlags {
  readonly wait?: true;
  readonly timeout: number;
}

export function withWait(
  command: Command,
  help = "wait until the clusters have it, and fail with the reason if they do not",
): Command {
  return command
    .option("--wait", help)
    .addOption(
      new Option("--timeout <duration>", "how long to wait at most")
        .argParser(durationOf)
        .default(300_000, "5m"),
    );
}

export function waitMsOf({ wait, timeout }: Partial<WaitFlags>): number | undefined {
  return wait === true ? timeout : undefined;
}

export function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function countOf(value: string): number {
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number from 1 on.");
}

function durationOf(value: string): number {
  try {
    return positiveDuration.read(value, { folder: "" });
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new InvalidArgumentError(`It ${error.message}.`);
  }
}
