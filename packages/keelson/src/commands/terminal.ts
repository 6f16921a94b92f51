// Where a command speaks, and what it hears of the person before it.

import { stderr, stdin, stdout } from "node:process";

/** What was asked for goes to `write`, everything else that is said to `note`. */
export interface Terminal {
  write(text: string): void;
  /** A line, for people. */
  note(line: string): void;
  /** Whether colours are welcome. */
  readonly hasColours: boolean;
  /** Everything on standard input. */
  readInput(): Promise<string>;
}

/** The terminal of this process. `onClosed` is called when nobody reads any more, as behind `| head`. */
export function processTerminal({
  noColour,
  onClosed,
}: {
  /** The variable `NO_COLOR`, of which only its presence counts. */
  readonly noColour: string | undefined;
  readonly onClosed: () => void;
}): Terminal {
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    onClosed();
  });
  return {
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${line}\n`),
    // A terminal may have none, as the one of an editor that calls itself dumb.
    hasColours: stdout.isTTY && stdout.hasColors() && (noColour ?? "") === "",
    readInput: async () => {
      const pieces: Buffer[] = [];
      for await (const piece of stdin) pieces.push(Buffer.from(piece as Uint8Array));
      return Buffer.concat(pieces).toString("utf8");
    },
  };
}
