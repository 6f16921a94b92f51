import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "@keelson/base";
import { CommanderError, type Command } from "commander";
import { commandLine, parseWords } from "./command-line.ts";
import type { CommandContext } from "./command-context.ts";
import { pathOf } from "./usage-sentence.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const context: CommandContext = {
  environment: {},
  workingFolder: root,
  clock: systemClock,
  isWatched: false,
  openTerminal: () => assert.fail("nothing is to be said"),
  run: () => assert.fail("nothing is to be run"),
  exit: () => assert.fail("nothing is to end"),
};

suite("the command line", () => {
  let program: Command;
  let said = "";
  let helped = "";
  before(async () => {
    program = await commandLine("all", {
      openContext: () => Promise.resolve(context),
      output: {
        writeOut: (text) => {
          helped += text;
        },
        writeErr: (text) => {
          said += text;
        },
      },
    });
    for (const command of leaves(program)) command.action(() => undefined);
  });

  /** What is wrong with words, if anything. */
  const complaint = async (words: readonly string[]): Promise<string | undefined> => {
    said = "";
    try {
      await program.parseAsync(words, { from: "user" });
      return undefined;
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      return error.exitCode === 0 ? undefined : said.trimEnd();
    }
  };

  test("every command has examples, and they can be typed", async () => {
    const wrong: string[] = [];
    for (const command of leaves(program)) {
      helped = "";
      command.outputHelp();
      const lines = helped.split("\nExamples:\n")[1]?.split("\n") ?? [];
      const typed = lines.flatMap(commandsIn);
      if (typed.length === 0) wrong.push(`${pathOf(command)} has no example`);
      for (const words of typed) {
        const problem = await complaint(words);
        if (problem !== undefined) wrong.push(`${words.join(" ")}: ${problem}`);
        const own = pathOf(command).split(" ").slice(1);
        const short = own[0] === "resource" ? own.slice(1) : own;
        const isOwn = [own, short].some((path) => path.every((word, i) => words[i] === word));
        if (!isOwn) wrong.push(`${words.join(" ")} is no example of ${pathOf(command)}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  test("every command in the documents can be typed", async () => {
    const files = globSync(["README.md", "docs/*.md", "docs/guides/*.md", "docs/reference/*.md"], {
      cwd: root,
      exclude: ["docs/first-run.md"], // It was typed, and is the record of that.
    });
    const wrong: string[] = [];
    let count = 0;
    for (const file of files) {
      for (const words of commandsIn(codeOf(readFileSync(`${root}/${file}`, "utf8")))) {
        count += 1;
        const problem = await complaint(words);
        if (problem !== undefined) wrong.push(`${file}: ${words.join(" ")}: ${problem}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(count > 10, `only ${count} commands were found`);
  });

  test("a flag whose value is empty is refused, whatever it is for", async () => {
    for (const words of [
      ["apiserver", "--kubeconfig", ""],
      ["apiserver", "--kubeconfig", "", "export"],
      ["up", "--data-dir", " "],
      ["config", "--config="],
      ["apply", "-f", "web.yaml", "-f", "", "--cluster", "local"],
      ["get", "--token", ""],
    ]) {
      await assert.rejects(
        () => complaint(words),
        { exitCode: 2, message: /^--[a-z-]+ is empty: give it a value, or leave it out$/ },
        words.join(" "),
      );
    }
  });

  test("a target is also added and removed", async () => {
    assert.equal(await complaint(["target", "add", "prod", "--kubeconfig", "config"]), undefined);
    assert.equal(await complaint(["target", "remove", "prod"]), undefined);
  });

  test("nouns share their verbs, and verbs their flags", () => {
    const nouns = ["cluster", "nodepool", "target", "resource", "global"];
    for (const noun of nouns) {
      const verbs = program.commands.find((one) => one.name() === noun)?.commands ?? [];
      const get = verbs.find((one) => one.name() === "get");
      assert.deepEqual(get?.aliases(), ["list"], noun);
      assert.ok(flag(get, "--watch") !== undefined, noun);
      assert.deepEqual(
        flag(get, "--output")?.argChoices,
        ["table", "wide", "json", "yaml", "name"],
        noun,
      );
      for (const name of ["apply", "create", "update", "delete", "pause", "resume"]) {
        const verb = verbs.find((one) => one.name() === name);
        if (verb === undefined) continue;
        const choices = flag(verb, "--output")?.argChoices;
        assert.deepEqual(choices, ["table", "json", "yaml", "name"], pathOf(verb));
      }
      for (const name of ["delete", "pause", "resume"]) {
        assert.ok(
          verbs.some((one) => one.name() === name),
          `${noun} ${name}`,
        );
      }
      for (const verb of verbs) {
        assert.ok(flag(verb, "--server") !== undefined, pathOf(verb));
        assert.ok(flag(verb, "--output") !== undefined, pathOf(verb));
      }
    }
  });

  test("one letter is one flag everywhere", () => {
    const meanings = new Map<string, Set<string | undefined>>();
    for (const { options } of leaves(program)) {
      for (const { short, long } of options) {
        if (short === undefined) continue;
        meanings.set(short, (meanings.get(short) ?? new Set()).add(long));
      }
    }
    assert.deepEqual(
      Object.fromEntries([...meanings].map(([short, longs]) => [short, [...longs]])),
      {
        "-R": ["--recursive"],
        "-f": ["--filename"],
        "-l": ["--selector"],
        "-n": ["--namespace"],
        "-o": ["--output"],
        "-w": ["--watch"],
      },
    );
  });

  test("help tells of the command that the words name, at whatever depth", async () => {
    const usageOf = async (words: string): Promise<string> => {
      helped = "";
      await assert.rejects(parseWords(program, words.split(" ")), { exitCode: 0 });
      return helped.split("\n")[0] ?? "";
    };
    for (const [words, usage] of [
      ["help", /^Usage: keelson \[options\] \[command\]$/],
      ["help target", /^Usage: keelson target \[options\] \[command\]$/],
      ["help target create", /^Usage: keelson target create\b/],
      ["help target add", /^Usage: keelson target create\b/],
      ["target help create", /^Usage: keelson target create\b/],
      ["help apiserver migrate", /^Usage: keelson apiserver migrate\b/],
      ["help up", /^Usage: keelson up\b/],
    ] as const) {
      assert.match(await usageOf(words), usage, words);
    }
    for (const [words, message] of [
      ["help targt", "unknown command 'targt': did you mean target?"],
      ["help target crate", "unknown command 'crate': did you mean create?"],
      ["help target zzz", "unknown command 'zzz': see \"keelson target --help\""],
      ["help up now", "unknown command 'now': see \"keelson up --help\""],
    ] as const) {
      await assert.rejects(parseWords(program, words.split(" ")), { exitCode: 2, message });
    }
  });

  test("what cannot be meant is told in a sentence with the next step", async () => {
    for (const [words, sentence] of [
      ["gett", "unknown command 'gett': did you mean get?"],
      ["zzz", "unknown command 'zzz': see \"keelson --help\""],
      ["cluster crate x", "unknown command 'crate': did you mean create?"],
      ["get --wach", "unknown option '--wach': did you mean --watch?"],
      ["up --prot 1", "unknown option '--prot': did you mean --port?"],
      ["target create", "missing required argument 'name': see \"keelson target create --help\""],
      [
        "get -o jsno",
        "option '-o, --output <format>' argument 'jsno' is invalid. Allowed choices are table, wide, json, yaml, name: did you mean json?",
      ],
      [
        "completion bsh",
        "command-argument value 'bsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish: did you mean bash?",
      ],
      ["crds now", "too many arguments for 'crds'. Expected 0 arguments but got 1: now"],
    ] as const) {
      assert.equal(await complaint(words.split(" ")), `keelson: ${sentence}`);
    }
  });
});

function leaves(command: Command): readonly Command[] {
  const below = command.commands.flatMap(leaves);
  const isNoun = command.commands.length > 0 && command.name() !== "apiserver";
  return isNoun ? below : [command, ...below];
}

function flag(command: Command | undefined, long: string) {
  return command?.options.find((option) => option.long === long);
}

/** The blocks of code of a document. */
function codeOf(markdown: string): string {
  return [...markdown.matchAll(/^```[a-z]*\n(.*?)^```$/gms)].map(([, code]) => code).join("\n");
}

/** The words of each `keelson …` in a script, as a shell would read them. */
function commandsIn(script: string): readonly (readonly string[])[] {
  const begun = /(?:^|[|(&]\s*|\s)(?:npm run (?:-s )?keelson --|keelson)(?= [^=])/gm;
  const typed = script.replaceAll(/^alias .*$/gm, "");
  return [...typed.matchAll(begun)].map(({ index, [0]: start }) => {
    const rest = typed.slice(index + start.length).replaceAll("\\\n", " ");
    const words: string[] = [];
    for (const [word] of rest.matchAll(/[ \t]+|'[^']*'|"[^"]*"|[^\s'"|&;>)]+|[^]/g)) {
      if (/^[ \t]+$/.test(word)) continue;
      if (/^[\n|&;>)#]/.test(word)) break;
      words.push(word.replaceAll(/^['"]|['"]$/g, ""));
    }
    return words;
  });
}
