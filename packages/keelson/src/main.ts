// The way in. It loads what a command needs when it is typed: help and version must not wait for a server's modules.

import { stderr, stdout } from "node:process";
import type { CommandContext } from "./commands/command-context.ts";
import { versionLine } from "./version.ts";

/** Runs the command that `process.argv` names, and ends the process with its exit code. */
export async function main(): Promise<void> {
  const words = process.argv.slice(2);
  for (const stream of [stdout, stderr]) stream.on("error", ignoreUnsaid);
  try {
    if (words.length === 1 && words[0] === "version") {
      answer(versionLine());
    } else {
      const { commandLine, parseWords } = await import("./commands/command-line.ts");
      const program = await commandLine(words, { openContext, output: { writeOut: answer } });
      await parseWords(program, words);
    }
    process.exitCode ??= 0;
  } catch (error) {
    const { report } = await import("./commands/report.ts");
    process.exitCode ||= report(error); // That an answer is lost may be known already.
  }
}

async function openContext(): Promise<CommandContext> {
  const [{ systemClock }, { processTerminal }, { untilInterrupted }] = await Promise.all([
    import("@keelson/base"),
    import("./commands/terminal.ts"),
    import("./commands/interrupted.ts"),
  ]);
  const environment = process.env;
  return {
    environment,
    workingFolder: process.cwd(),
    clock: systemClock,
    isWatched: process.stderr.isTTY,
    openTerminal: () =>
      processTerminal({
        noColour: environment["NO_COLOR"],
        onLost: (error) => exit(exitCodeOf(error)),
      }),
    run: untilInterrupted,
    exit,
  };
}

function exit(code = process.exitCode): void {
  process.exit(code);
}

let isAnswering = false;

/** Writes a piece of what was asked for. */
function answer(text: string): void {
  if (!isAnswering) stdout.once("error", (error) => (process.exitCode = exitCodeOf(error)));
  isAnswering = true;
  stdout.write(text);
}

/** That of a command whose answer is lost, which is told: done, if whoever read has gone, as behind `| head`. */
function exitCodeOf({ code }: NodeJS.ErrnoException): number {
  if (code === "EPIPE") return 0;
  stderr.write(`keelson: standard output cannot be written to (${code})\n`);
  return 1;
}

/**
 * Whoever read may have gone, as behind `| tee` at Ctrl-C, or the disk be full that it goes to. That is no failure of what is said
 * beside an answer, and least of all a reason for a server to end without stopping.
 */
function ignoreUnsaid(): void {}
