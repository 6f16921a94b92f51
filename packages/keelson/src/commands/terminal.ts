// Where a command speaks, and what it hears of the person before it.

import { stderr, stdin, stdout } from "node:process";
import { onAbort } from "@keelson/base";
import { exitFailure } from "../start-error.ts";

/** What was asked for goes to `write`, everything else that is said to `note`. */
export interface Terminal {
  write(text: string): void;
  /** A line, for people. */
  note(line: string): void;
  /** Whether colours are welcome. */
  readonly hasColours: boolean;
  /** Everything on standard input. Throws once `signal` aborts. */
  readInput(signal: AbortSignal): Promise<string>;
}

/** The terminal of this process, which ends once its answer goes nowhere: done if nobody reads any more, as behind `| head`. */
export function processTerminal({
  noColour,
  end,
}: {
  /** The variable `NO_COLOR`, of which only its presence counts. */
  readonly noColour: string | undefined;
  readonly end: (code: number) => void;
}): Terminal {
  stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return end(0);
    stderr.write(`keelson: standard output cannot be written to (${code})\n`);
    end(exitFailure);
  });
  return {
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${line}\n`),
    // A terminal may have none, as the one of an editor that calls itself dumb.
    hasColours: stdout.isTTY && stdout.hasColors() && (noColour ?? "") === "",
    readInput: async (signal) => {
      using _ended = onAbort(signal, () => stdin.destroy());
      const pieces: Buffer[] = [];
      for await (const piece of stdin) pieces.push(Buffer.from(piece as Uint8Array));
      return Buffer.concat(pieces).toString("utf8");
    },
  };
}
