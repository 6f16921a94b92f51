// `keelson completion`, and what its scripts call, as they are typed.

import { Argument } from "commander";
import type { Define } from "./catalog.ts";
import { shells, scripts, type Shell } from "./completion/scripts.ts";
import { withExamples } from "./examples.ts";

export const defineCompletion: Define = (command, context) => {
  withExamples(command, [
    ["source <(keelson completion bash)", "in ~/.bashrc"],
    ["source <(keelson completion zsh)", "in ~/.zshrc, after compinit"],
    ["keelson completion fish > ~/.config/fish/completions/keelson.fish", "once"],
  ])
    .description("print the script that completes commands, flags, values and kinds at Tab")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => context.openTerminal().write(scripts[shell]));
};

/** Prints what may stand at the end of the words, a line each: the word, a tab, what it is. */
export const defineComplete: Define = (command, context) => {
  withExamples(command, [["keelson complete -- target cr", "what Tab would offer there"]])
    .argument("[words...]", "what is typed so far, without keelson")
    .action(async (words: string[]) => {
      const { commandLine } = await import("./command-line.ts");
      const { candidates } = await import("./completion/candidates.ts");
      const openContext = () => Promise.resolve(context);
      const program = await commandLine(words, { openContext });
      const found = await candidates(program, words.length === 0 ? [""] : words, async () => {
        const { loadKindNames } = await import("@keelson/kube/kind-names");
        const names = await loadKindNames();
        return names.map(({ plural, kind }) => ({ value: plural, help: kind }));
      });
      const lines = new Set(found.map(({ value, help }) => `${value}\t${help}\n`));
      context.openTerminal().write([...lines].join(""));
    });
};
