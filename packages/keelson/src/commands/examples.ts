// Examples at the end of a command's help.

import type { Command } from "commander";

/** Each is what somebody types, and perhaps what for. */
export type Example = readonly [line: string, why?: string];

export function withExamples(command: Command, examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([line, why]) => (why === undefined ? 0 : line.length)));
  const lines = examples.map(([line, why]) =>
    why === undefined ? `  ${line}` : `  ${line.padEnd(width)}  # ${why}`,
  );
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}
