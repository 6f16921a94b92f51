// What commander complains of, in one sentence that says what to do next.

import type { Command } from "commander";
import { closest } from "../config/closest.ts";

/** `keelson: unknown command 'gett': did you mean get?`, with a line break at its end. */
export function usageSentence(complaint: string, command: Command): string {
  const [, told = complaint, meant] =
    /^(?:error: )?(.*?)\.?\n(?:\(Did you mean (.*)\?\)\n?)?$/s.exec(complaint) ?? [];
  const guess = meant ?? closestChoice(told);
  if (guess !== undefined) return `keelson: ${told}: did you mean ${guess}?\n`;
  // Whatever goes on after a full stop has told what would be right.
  const isExplained = /\. \S/.test(told);
  return `keelson: ${told}${isExplained ? "" : `: see "${pathOf(command)} --help"`}\n`;
}

/** The choice that a value was probably meant to be. */
function closestChoice(told: string): string | undefined {
  const [, value, choices] =
    /(?:argument|value) '(.*)' is invalid.*?\. Allowed choices are (.*)$/s.exec(told) ?? [];
  return value === undefined ? undefined : closest(value, (choices ?? "").split(", "));
}

/** `keelson target create`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
