// `keelson` commands as somebody types them, in this process: what they print, and how they end.

import assert from "node:assert/strict";
import { systemClock } from "@keelson/base";
import { CommandError, commandLine, type CommandContext } from "@keelson/keelson";
import { CommanderError } from "commander";

export interface Typed {
  /** The exit code. */
  readonly code: number;
  readonly out: string;
  /** Everything said besides. */
  readonly said: string;
}

export interface TypeOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Interrupts it, as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Hears what is printed as it comes. */
  readonly onOutput?: (all: string) => void;
}

/** Types commands before the server at `url`. The clock stands still before everything, so all ages are `0s`. */
export function typing(url: string, workingFolder: string) {
  return async (words: string | readonly string[], options: TypeOptions = {}): Promise<Typed> => {
    const { input = "", environment = {}, signal = new AbortController().signal } = options;
    let [out, said] = ["", ""];
    const context: CommandContext = {
      environment: { KEELSON_SERVER: url, ...environment },
      workingFolder,
      clock: { ...systemClock, now: () => 0 },
      openTerminal: () => ({
        write: (text) => {
          out += text;
          options.onOutput?.(out);
        },
        note: (line) => {
          said += `${line}\n`;
        },
        hasColours: false,
        readInput: () => Promise.resolve(input),
      }),
      run: (work) => work(signal),
      isWatched: false,
      exit: (code) => assert.fail(`it wants to exit with ${code}`),
    };
    const typed = typeof words === "string" ? words.split(" ") : words;
    const openContext = () => Promise.resolve(context);
    const program = await commandLine(typed, {
      openContext,
      output: {
        writeOut: (text) => {
          out += text;
        },
        writeErr: (text) => {
          said += text;
        },
      },
    });
    try {
      await program.parseAsync(typed, { from: "user" });
      return { code: 0, out, said };
    } catch (error) {
      if (signal.aborted) return { code: 130, out, said };
      if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : 2, out, said };
      if (!(error instanceof CommandError)) throw error;
      return {
        code: error.exitCode,
        out,
        said: error.message === "" ? said : `${said}${error.message}\n`,
      };
    }
  };
}

/** Output of these lines. */
export function lines(...all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
