// Where a command speaks, and what it hears of the person before it.

import { stderr, stdin, stdout } from "node:process";
import { onAbort } from "@keelson/base";

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

/** The terminal of this process. */
export function processTerminal({
  noColour,
  onLost,
}: {
  /** The variable `NO_COLOR`, of which only its presence counts. */
  readonly noColour: string | undefined;
  /** Called once an answer goes nowhere: nobody reads any more, or a disk is full. */
  readonly onLost: (error: NodeJS.ErrnoException) => void;
}): Terminal {
  stdout.on("error", onLost);
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
