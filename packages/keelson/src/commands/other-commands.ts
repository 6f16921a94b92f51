// `keelson crds` and `keelson version`, as they are typed.

import { keelsonVersion, versionLine } from "../version.ts";
import type { Define } from "./catalog.ts";
import { withExamples } from "./examples.ts";
import { withOutput, type OutputFlags } from "./flags.ts";

export const defineCrds: Define = (command, context) => {
  withExamples(command, [
    ["keelson crds | kubectl apply --server-side -f -", "a real cluster knows the kinds then"],
  ]).action(async () => {
    const { definitionsYaml } = await import("./crds.ts");
    context.openTerminal().write(definitionsYaml());
  });
};

export const defineVersion: Define = (command, context) => {
  withExamples(withOutput(command, ["table", "json", "yaml"]), [
    ["keelson version"],
    ["keelson version -o json"],
  ]).action(async ({ output }: OutputFlags) => {
    const terminal = context.openTerminal();
    if (output === "json" || output === "yaml") {
      const { valueText } = await import("./output/formats.ts");
      const shown = { version: keelsonVersion(), node: process.versions.node };
      terminal.write(await valueText(shown, output));
      return;
    }
    terminal.write(versionLine());
  });
};
