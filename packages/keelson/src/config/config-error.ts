import type { Problem } from "./given.ts";

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "CONFIG_INVALID";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
    super([`the configuration has ${count}`, ...problems.map(sentenceOf)].join("\n  "));
    this.problems = problems;
  }
}

/** `PORT "abc" must be a port …: did you mean …` */
function sentenceOf({ field, message, fix }: Problem): string {
  return `${field} ${message}${fix === undefined ? "" : `: ${fix}`}`;
}
