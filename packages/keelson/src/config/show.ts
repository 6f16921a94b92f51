// The configuration in force, for people and for programs. Secrets are masked in both.

import type { Config } from "../config.ts";
import { flagOf, variableOf, type Setting } from "./setting.ts";
import { anySettings, groups, type SettingKey } from "./settings.ts";

/** One setting as it may be shown. */
export interface ShownSetting {
  readonly setting: SettingKey;
  readonly flag: string;
  readonly variable: string;
  /** Null where it has no value. */
  readonly value: string | null;
  /** `flag --port`, `variable PORT`, `file port in …`, `default`, `default: why`. */
  readonly source: string;
}

/** Every setting in force, in the order of the table. */
export function shownSettings(config: Config): readonly ShownSetting[] {
  return anySettings.map(([key, setting]) => ({
    setting: key,
    flag: `--${flagOf(key)}`,
    variable: variableOf(key),
    value: shownValue(config[key], setting),
    source: shownSource(config.sources[key]),
  }));
}

/** The settings as a table under headings, ending with a newline. */
export function settingsTable(config: Config): string {
  const shown = new Map(shownSettings(config).map((row) => [row.setting, row]));
  const rows = [...shown.values()];
  const nameWidth = Math.max(...rows.map(({ variable }) => variable.length));
  const valueWidth = Math.min(44, Math.max(...rows.map(({ value }) => (value ?? "-").length)));
  const sections = Object.entries(groups).map(([heading, members]) =>
    [
      heading,
      ...Object.keys(members).map((key) => {
        const { variable, value, source } = shown.get(key as SettingKey) as ShownSetting;
        return `  ${variable.padEnd(nameWidth)}  ${(value ?? "-").padEnd(valueWidth)}  ${source}`;
      }),
    ].join("\n"),
  );
  const file = config.configFile ?? "none";
  return `${sections.join("\n\n")}\n\nConfiguration file: ${file}\n`;
}

/** A URL without the password that it may carry. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return mask;
  const shown = new URL(url);
  if (shown.password === "" && !shown.searchParams.has("password")) return url;
  if (shown.password !== "") shown.password = mask;
  if (shown.searchParams.has("password")) shown.searchParams.set("password", mask);
  try {
    return decodeURI(shown.href);
  } catch {
    return shown.href; // It has a percent sign that begins no escape.
  }
}

const mask = "*****";

function shownValue(value: unknown, { kind, secret }: Setting<unknown>): string | null {
  if (value === undefined) return null;
  const text = kind.write(value);
  if (secret === "whole") return mask;
  return secret === "password" ? withoutPassword(text) : text;
}

function shownSource({ origin, name }: Config["sources"][SettingKey]): string {
  if (origin === "default") return name === "" ? "default" : `default: ${name}`;
  return `${origin} ${name}`;
}
