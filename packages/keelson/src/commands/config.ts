import { stdout } from "node:process";
import type { Config } from "../config.ts";
import { settingsTable, shownSettings } from "../config/show.ts";

/** `keelson config`: what is in force, and where each value came from. */
export function showConfig(config: Config, { asJson }: { readonly asJson: boolean }): void {
  const text = asJson
    ? `${JSON.stringify({ file: config.configFile ?? null, settings: shownSettings(config) }, undefined, 2)}\n`
    : settingsTable(config);
  stdout.write(text);
}
