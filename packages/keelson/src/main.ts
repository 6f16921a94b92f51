// The command line. Commands are loaded when they are run: help and version must not wait for a server's modules.

import { systemClock } from "@keelson/base";
import { Command, CommanderError, Option } from "commander";
import { addClusterCommands } from "./commands/clusters/cluster-commands.ts";
import { CommandError } from "./commands/command-error.ts";
import type { CommandContext } from "./commands/command-context.ts";
import { addFleetCommands } from "./commands/fleet/fleet-commands.ts";
import { processTerminal } from "./commands/terminal.ts";
import { ConfigError, loadConfig, processEnvironment, type Config } from "./config.ts";
import type { Flags } from "./config/given.ts";
import type { Purpose } from "./config/rules.ts";
import { flagOf, variableOf, type Setting } from "./config/setting.ts";
import { groups } from "./config/settings.ts";
import { exitCodes, exitFailure, exitInterrupted, StartError } from "./start-error.ts";
import { keelsonVersion } from "./version.ts";

/** Runs the command that `process.argv` names, and ends the process with its exit code. */
export async function main(): Promise<void> {
  const program = commandLine();
  try {
    await program.parseAsync(process.argv);
    process.exitCode ??= 0;
  } catch (error) {
    process.exitCode = report(error);
  }
}

function commandLine(): Command {
  const program = new Command("keelson")
    .description("One control plane: clusters, resources and applications, kept in SQL")
    .version(keelsonVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "keelson: ")) })
    .showSuggestionAfterError();

  program.commandsGroup("Servers:");
  withSettings(program.command("up").description("run everything on this machine")).action(
    async (options: object) => {
      const config = await configOf(options, "up");
      const { up } = await import("./commands/up.ts");
      await up(config, exit);
    },
  );
  withSettings(
    program.command("serve").description("run chosen parts, as one of several replicas"),
  ).action(async (options: object) => {
    const config = await configOf(options, "serve");
    const { serveRoles } = await import("./commands/serve.ts");
    await serveRoles(config, exit);
  });
  const apiserver = withSettings(
    program.command("apiserver").description("run the Kubernetes API alone, on its store"),
  ).action(async (options: object) => {
    const config = await configOf(options, "apiserver");
    const { apiserver } = await import("./commands/apiserver.ts");
    await apiserver(config, exit);
  });
  withSettings(
    apiserver.command("migrate").description("bring the schema of the store up to date"),
  ).action(async (_own: object, command: Command) => {
    const config = await configOf(command.optsWithGlobals(), "apiserver");
    const { migrate } = await import("./commands/apiserver-store.ts");
    await migrate(config);
  });
  withSettings(
    apiserver
      .command("restore")
      .description("after the database was restored: make clients list everything again"),
  ).action(async (_own: object, command: Command) => {
    const config = await configOf(command.optsWithGlobals(), "apiserver");
    const { restore } = await import("./commands/apiserver-store.ts");
    await restore(config);
  });
  withSettings(
    apiserver
      .command("export")
      .description(
        "print the Ark objects of the cluster of --kubeconfig, or of the store, a line each",
      )
      .option("--kinds <names>", "which kinds, by plural, with commas between; all unless told"),
  ).action(async (_own: object, command: Command) => {
    const options = command.optsWithGlobals<{ readonly kinds?: string }>();
    const config = await configOf(options, "apiserver");
    const { exportLines } = await import("./commands/apiserver-transfer.ts");
    const names = (options.kinds ?? "").split(",").map((name) => name.trim());
    await exportLines(
      config,
      names.filter((name) => name !== ""),
    );
  });
  withSettings(
    apiserver
      .command("import")
      .description("bring such lines into the cluster of --kubeconfig, or into the store")
      .argument("<file>", "what export has printed; - for standard input"),
  ).action(async (file: string, _own: object, command: Command) => {
    const config = await configOf(command.optsWithGlobals(), "apiserver");
    const { importLines } = await import("./commands/apiserver-transfer.ts");
    if (!(await importLines(config, file))) process.exitCode = exitFailure;
  });
  withSettings(
    program
      .command("config")
      .description("print every setting in force and where it came from")
      .option("--json", "as JSON")
      .option("--markdown", "the tables of docs/settings.md instead"),
  ).action(async (options: { readonly json?: boolean; readonly markdown?: boolean }) => {
    if (options.markdown === true) {
      const { settingsDocument } = await import("./config/document.ts");
      process.stdout.write(`${settingsDocument()}\n`);
      return;
    }
    const config = await configOf(options, "show");
    const { showConfig } = await import("./commands/config.ts");
    showConfig(config, { asJson: options.json === true });
  });
  program
    .command("crds")
    .description("print the definitions of Application and PreviewEnvironment, for a real cluster")
    .action(async () => {
      const { definitionsYaml } = await import("./commands/crds.ts");
      process.stdout.write(definitionsYaml());
    });
  const context = commandContext();
  addClusterCommands(program, context);
  addFleetCommands(program, context);
  program.commandsGroup("Others:").helpCommand("help [command]", "print the help of a command");
  program
    .command("version")
    .description("print the version")
    .action(() => {
      process.stdout.write(`keelson ${keelsonVersion()} (Node ${process.versions.node})\n`);
    });
  return program;
}

function commandContext(): CommandContext {
  const environment = processEnvironment();
  return {
    environment,
    workingFolder: process.cwd(),
    clock: systemClock,
    openTerminal: () =>
      processTerminal({ noColour: environment["NO_COLOR"], onClosed: () => exit(0) }),
    run: async (work) => {
      const interrupted = new AbortController();
      const interrupt = (): void => interrupted.abort(new Interrupted());
      // Only the first is ours: whoever insists is not kept waiting.
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, interrupt);
      try {
        await work(interrupted.signal);
      } catch (error) {
        throw interrupted.signal.aborted ? new Interrupted() : error;
      } finally {
        for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
      }
    },
  };
}

/** Somebody pressed Ctrl-C: nothing more is to be said. */
class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** One flag per setting, under the heading of its part. */
function withSettings(command: Command): Command {
  command.option(
    "--config <file>",
    "configuration file (KEELSON_CONFIG; default keelson.config.yaml)",
  );
  for (const [heading, members] of Object.entries(groups)) {
    command.optionsGroup(`${heading}:`);
    for (const [key, setting] of Object.entries(members) as [string, Setting<unknown>][]) {
      command.addOption(
        new Option(`--${flagOf(key)} ${placeholderOf(setting)}`, helpOf(key, setting)),
      );
      for (const flag of setting.flagAliases ?? []) {
        command.addOption(new Option(`--${flag} ${placeholderOf(setting)}`).hideHelp());
      }
    }
  }
  return command
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(--help shows every flag)");
}

function placeholderOf({ kind }: Setting<unknown>): string {
  return kind.name === "true or false" ? "[true|false]" : `<${kind.name}>`;
}

function helpOf(key: string, { help, default: standard }: Setting<unknown>): string {
  const shown = typeof standard === "string" ? `; default ${standard}` : "";
  return `${help} (${variableOf(key)}${shown})`;
}

function configOf(options: object, purpose: Purpose): Promise<Config> {
  return loadConfig({
    flags: flagsFrom(options),
    environment: processEnvironment(),
    workingFolder: process.cwd(),
    purpose,
    isTerminal: process.stderr.isTTY,
  });
}

/** Flags by their names; one without a value, which only switches have, is `true`. */
function flagsFrom(options: object): Flags {
  return Object.fromEntries(
    Object.entries(options as Record<string, unknown>).map(([key, value]) => [
      flagOf(key),
      String(value),
    ]),
  );
}

/** Says what went wrong, in one sentence where there is one, and gives the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.USAGE;
  if (error instanceof ConfigError) {
    process.stderr.write(`keelson: ${error.message}\n`);
    return exitCodes.USAGE;
  }
  if (error instanceof Interrupted) return exitInterrupted;
  if (error instanceof CommandError) {
    if (error.message !== "") process.stderr.write(`keelson: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof StartError) {
    process.stderr.write(`keelson: ${error.message}\n`);
    return exitCodes[error.code];
  }
  process.stderr.write(
    `keelson: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return exitFailure;
}

function exit(code: number): void {
  process.exit(code);
}
