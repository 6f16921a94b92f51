// Why a command did not do what it was asked, in words for a person.

import { exitCodes, exitFailure } from "../start-error.ts";

/** The message is all that is shown: what is wrong, then what to do about it. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly code = "COMMAND_FAILED";
  readonly exitCode: number;

  constructor(
    message: string,
    { exitCode = exitFailure, ...options }: ErrorOptions & { readonly exitCode?: number } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The answer is no, and everything was said. */
export function quietFailure(): CommandError {
  return new CommandError("");
}

/** What was typed cannot be meant. */
export function usageError(message: string, options: ErrorOptions = {}): CommandError {
  return new CommandError(message, { ...options, exitCode: exitCodes.USAGE });
}
