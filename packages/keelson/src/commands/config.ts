import type { Json } from "@keelson/base";
import type { Config } from "../config.ts";
import { settingsTable, shownSettings } from "../config/show.ts";
import { valueText, type Output } from "./output/formats.ts";
import type { Terminal } from "./terminal.ts";

/** `keelson config`: what is in force, and where each value came from. */
export async function showConfig(
  config: Config,
  terminal: Terminal,
  { output }: { readonly output: Output },
): Promise<void> {
  const settings = shownSettings(config);
  if (output === "json" || output === "yaml") {
    const shown = { file: config.configFile ?? null, settings };
    terminal.write(await valueText(shown as unknown as Json, output));
  } else if (output === "name") {
    terminal.write(settings.map(({ variable }) => `${variable}\n`).join(""));
  } else {
    terminal.write(settingsTable(config));
  }
}
