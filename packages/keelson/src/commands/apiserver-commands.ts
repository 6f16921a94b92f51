// `keelson apiserver` and what stands below it, as they are typed.

import type { Command } from "commander";
import type { Define } from "./catalog.ts";
import { quietFailure } from "./command-error.ts";
import { withExamples } from "./examples.ts";
import { configOf, withSettings } from "./setting-flags.ts";

export const defineApiserver: Define = (command, context) => {
  withExamples(withSettings(command), [
    ["keelson apiserver"],
    ["keelson apiserver --aggregated --kubeconfig ~/.kube/config", "behind that cluster"],
  ]).action(async (options: object) => {
    const config = await configOf(options, context, "apiserver");
    const { apiserver } = await import("./apiserver.ts");
    await apiserver(config, context.exit);
  });

  withExamples(withSettings(command.command("migrate")), [
    ["keelson apiserver migrate --storage-driver postgresql --postgres-host db.example.com"],
  ])
    .description("bring the schema of the store up to date")
    .action(async (_own: object, typed: Command) => {
      const config = await configOf(typed.optsWithGlobals(), context, "apiserver");
      const { migrate } = await import("./apiserver-store.ts");
      await migrate(config, context.openTerminal());
    });

  withExamples(withSettings(command.command("restore")), [["keelson apiserver restore"]])
    .description("after the database was restored: make clients list everything again")
    .action(async (_own: object, typed: Command) => {
      const config = await configOf(typed.optsWithGlobals(), context, "apiserver");
      const { restore } = await import("./apiserver-store.ts");
      await restore(config, context.openTerminal());
    });

  withExamples(
    withSettings(
      command
        .command("export")
        .option("--kinds <names>", "which kinds, by plural, with commas between; all unless told"),
    ),
    [["keelson apiserver export --kubeconfig ~/.kube/config --kinds agents,models"]],
  )
    .description(
      "print the Ark objects of the cluster of --kubeconfig, or of the store, a line each",
    )
    .action(async (_own: object, typed: Command) => {
      const options = typed.optsWithGlobals<{ readonly kinds?: string }>();
      const config = await configOf(options, context, "apiserver");
      const { exportLines } = await import("./apiserver-transfer.ts");
      const names = (options.kinds ?? "").split(",").map((name) => name.trim());
      const kinds = names.filter((name) => name !== "");
      const terminal = context.openTerminal();
      await context.run((signal) => exportLines(config, { kinds, terminal }, signal));
    });

  withExamples(withSettings(command.command("import")), [
    ["keelson apiserver import objects.jsonl"],
  ])
    .description("bring such lines into the cluster of --kubeconfig, or into the store")
    .argument("<file>", "what export has printed; - for standard input")
    .action(async (file: string, _own: object, typed: Command) => {
      const config = await configOf(typed.optsWithGlobals(), context, "apiserver");
      const { importLines } = await import("./apiserver-transfer.ts");
      const terminal = context.openTerminal();
      await context.run(async (signal) => {
        if (!(await importLines(config, { file, terminal }, signal))) throw quietFailure();
      });
    });
};
