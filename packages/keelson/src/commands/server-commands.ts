// `keelson up`, `serve` and `config`, as they are typed.

import type { Define } from "./catalog.ts";
import { withExamples } from "./examples.ts";
import { changeOutputs, withOutput, type OutputFlags } from "./flags.ts";
import { configOf, withSettings } from "./setting-flags.ts";

export const defineUp: Define = (command, context) => {
  withExamples(withSettings(command), [
    ["keelson up"],
    ["keelson up --port 0 --kube-port 0 --metrics-port 0", "on free ports: run.json has them"],
    ["keelson up --database-url postgres://me@db.example.com/keelson", "on your PostgreSQL"],
  ]).action(async (options: object) => {
    const config = await configOf(options, context, "up");
    const { up } = await import("./up.ts");
    await up(config, context.exit);
  });
};

export const defineServe: Define = (command, context) => {
  withExamples(withSettings(command), [
    [
      "keelson serve --roles rest,scheduler",
      "needs KEELSON_DATABASE_URL and KEELSON_ENCRYPTION_KEY",
    ],
    ["keelson serve --roles worker --cluster-id prod", "inside the cluster prod"],
    ["keelson serve --roles operator --base-domain apps.example.com", "the operator alone"],
  ]).action(async (options: object) => {
    const config = await configOf(options, context, "serve");
    const { serveRoles } = await import("./serve.ts");
    await serveRoles(config, context.exit);
  });
};

export const defineConfig: Define = (command, context) => {
  withExamples(
    withSettings(
      withOutput(command, changeOutputs).option(
        "--markdown",
        "the tables of docs/reference/settings.md instead",
      ),
    ),
    [["keelson config"], ["keelson config --port 9000 -o json", "as it would be with that flag"]],
  ).action(async (options: OutputFlags & { readonly markdown?: true }) => {
    if (options.markdown === true) {
      const { settingsDocument } = await import("../config/document.ts");
      context.openTerminal().write(`${settingsDocument()}\n`);
      return;
    }
    const config = await configOf(options, context, "show");
    const { showConfig } = await import("./config.ts");
    await showConfig(config, context.openTerminal(), options);
  });
};
