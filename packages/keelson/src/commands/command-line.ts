// The command line as commander reads it: all first words, and in full the one that is typed.

import { Command, Help } from "commander";
import { keelsonVersion } from "../version.ts";
import { catalog } from "./catalog.ts";
import type { CommandContext } from "./command-context.ts";
import { closest } from "../config/closest.ts";
import { usageError } from "./command-error.ts";
import { pathOf, usageSentence } from "./usage-sentence.ts";

export interface CommandLineOptions {
  /** Called once a command is defined in full. */
  readonly openContext: () => Promise<CommandContext>;
  /** Where help and complaints go; the process's own unless told. */
  readonly output?: {
    readonly writeOut: (text: string) => void;
    readonly writeErr?: (text: string) => void;
  };
}

/** Reads `words`; with `"all"` every command is defined in full. */
export async function commandLine(
  words: readonly string[] | "all",
  { openContext, output }: CommandLineOptions,
): Promise<Command> {
  const program = new Command("keelson")
    .description("One control plane: clusters, resources and applications, kept in SQL")
    .version(keelsonVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput(output ?? {})
    .configureHelp({
      subcommandTerm: (command) => [command.name(), ...command.aliases()].join("|"),
      // That a flag which may be given again is not given unless it is says nothing.
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(" (default: [])", ""),
    })
    .addHelpText("after", '\n"keelson COMMAND --help" tells more of each, with examples.');
  const typed = words === "all" ? [] : words.filter((word) => !word.startsWith("-")).slice(0, 2);
  for (const { name, heading, summary, isHidden, load } of catalog) {
    program.commandsGroup(`${heading}:`);
    const command = program
      .command(name, { hidden: isHidden === true })
      .description(summary)
      .summary(summary);
    // `help NAME` is about NAME.
    if (words !== "all" && name !== typed[typed[0] === "help" ? 1 : 0]) continue;
    const define = await load();
    define(command, await openContext());
  }
  program.hook("preAction", (_program, command) => refuseEmpty(command));
  speakAsOne(program);
  return program;
}

/** Runs the command that the words name. */
export async function parseWords(program: Command, words: readonly string[]): Promise<void> {
  const [first, ...path] = words;
  if (first === "help" && !path.some((word) => word.startsWith("-")))
    commandAt(program, path).help();
  await program.parseAsync(words, { from: "user" });
}

/** The command that `path` names, at whatever depth. Throws for a word that names none. */
function commandAt(program: Command, path: readonly string[]): Command {
  let command = program;
  for (const word of path) {
    const { commands } = command;
    const found = commands.find((one) => [one.name(), ...one.aliases()].includes(word));
    if (found === undefined) {
      const guess = closest(
        word,
        commands.map((one) => one.name()),
      );
      const next =
        guess === undefined ? `see "${pathOf(command)} --help"` : `did you mean ${guess}?`;
      throw usageError(`unknown command '${word}': ${next}`);
    }
    command = found;
  }
  return command;
}

/** What was to stand there is missing, as the variable in `--kubeconfig "$FILE"`: no default is meant, and no folder. */
function refuseEmpty(command: Command): void {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const given = [at.getOptionValue(option.attributeName()) as unknown].flat();
      if (!given.some((value) => typeof value === "string" && value.trim() === "")) continue;
      throw usageError(`${option.long} is empty: give it a value, or leave it out`);
    }
  }
}

/** Complaints are sentences, and help is called the same, in every command. */
function speakAsOne(command: Command): void {
  command.configureOutput({
    outputError: (text, write) => write(usageSentence(text, command)),
  });
  if (command.commands.length === 0) return;
  command.helpCommand("help [command]", "print the help of a command");
  for (const one of command.commands) speakAsOne(one);
}
