// What is said at the end of a command that failed, and with which code it ends.

import { stderr } from "node:process";
import { CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { exitCodes, exitFailure, exitInterrupted, StartError } from "../start-error.ts";
import { CommandError } from "./command-error.ts";
import { Interrupted } from "./interrupted.ts";

/** Says what went wrong, in one sentence where there is one, and gives the exit code. */
export function report(error: unknown): number {
  // Commander has said it itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.USAGE;
  if (error instanceof Interrupted) return exitInterrupted;
  if (error instanceof ConfigError) return said(error.message, exitCodes.USAGE);
  if (error instanceof StartError) return said(error.message, exitCodes[error.code]);
  if (error instanceof CommandError) return said(error.message, error.exitCode);
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return said(text, exitFailure);
}

function said(message: string, code: number): number {
  if (message !== "") stderr.write(`keelson: ${message}\n`);
  return code;
}
