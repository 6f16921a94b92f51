// What may stand where somebody has pressed Tab.

import type { Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly help: string;
}

/** Words for the kinds of Kubernetes. Read when somebody asks. */
export type KindWords = () => Promise<readonly Candidate[]>;

/** The last of `words` is the one that is being typed, perhaps empty. None where files may stand. */
export async function candidates(
  program: Command,
  words: readonly string[],
  kindWords: KindWords,
): Promise<readonly Candidate[]> {
  const { command, valueFor } = placeAfter(program, words.slice(0, -1));
  const last = words.at(-1) ?? "";
  const typed = valueFor !== undefined && last === equalsSign ? "" : last;
  return (await possible()).filter(({ value }) => value.startsWith(typed));

  async function possible(): Promise<readonly Candidate[]> {
    if (valueFor !== undefined) return choicesOf(valueFor);
    const [flag = "", ...given] = typed.split("=");
    if (given.length > 0) {
      const chosen = optionOf(command, flag);
      const choices = chosen === undefined ? [] : choicesOf(chosen);
      return choices.map(({ value, help }) => ({ value: `${flag}=${value}`, help }));
    }
    if (typed.startsWith("-")) return flagsOf(command);
    if (command.commands.length > 0 && command.registeredArguments.length === 0) {
      return verbsOf(command);
    }
    const [argument] = command.registeredArguments;
    if (argument?.argChoices !== undefined) return argument.argChoices.map(bare);
    // Whatever is called by its kind: resources, and global ones.
    return /\bkinds\b|\bresources?: /.test(argument?.description ?? "") ? kindWords() : [];
  }
}

/** Bash makes three words of `--output=json`. */
const equalsSign = "=";

/** Which command the words lead to, and the flag whose value comes next. */
function placeAfter(program: Command, words: readonly string[]) {
  let command = program;
  let valueFor: Option | undefined;
  for (const word of words) {
    if (valueFor !== undefined) {
      if (word !== equalsSign) valueFor = undefined;
      continue;
    }
    if (word.startsWith("-")) {
      const option = optionOf(command, word);
      if (option?.required === true) valueFor = option;
      continue;
    }
    command =
      command.commands.find((one) => one.name() === word || one.aliases().includes(word)) ??
      command;
  }
  return { command, valueFor };
}

function optionOf(command: Command, word: string): Option | undefined {
  return command.options.find(({ short, long }) => short === word || long === word);
}

/** A setting tells its choices by what stands for the value: `--log-format <json|text>`, `[true|false]`, `<rest|worker,…>`. */
function choicesOf({ argChoices, flags }: Option): readonly Candidate[] {
  const [, told] = /[<[]([\w-]+(?:\|[\w-]+)+)(?:,…)?[>\]]$/.exec(flags) ?? [];
  return (argChoices ?? told?.split("|") ?? []).map(bare);
}

function bare(value: string): Candidate {
  return { value, help: "" };
}

function flagsOf(command: Command): readonly Candidate[] {
  const flags = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({ value: long ?? short ?? "", help: description }));
  return [...flags, { value: "--help", help: "print the help of this command" }];
}

function verbsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({
      value: one.name(),
      help: one.summary() || one.description(),
    }));
}
