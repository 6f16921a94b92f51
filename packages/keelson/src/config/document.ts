// The page about settings, from the table of settings: `docs/reference/settings.md` holds what this gives.

import { flagOf, variableOf, type Setting } from "./setting.ts";
import { groups } from "./settings.ts";

/** One table in Markdown for each group. */
export function settingsDocument(): string {
  return Object.entries(groups)
    .map(([heading, members]) => {
      const rows = (Object.entries(members) as [string, Setting<unknown>][]).map(rowOf);
      const head = [
        "| variable | flag | in the file | default | meaning |",
        "|---|---|---|---|---|",
      ];
      return [`## ${heading}`, "", ...head, ...rows].join("\n");
    })
    .join("\n\n");
}

function rowOf([key, setting]: [string, Setting<unknown>]): string {
  const { help, kind, aliases = [], flagAliases = [], place = key, default: standard } = setting;
  const variables = [variableOf(key), ...aliases.map(({ variable }) => variable)].map(code);
  const flags = [flagOf(key), ...flagAliases].map((flag) => code(`--${flag}`));
  const shown =
    typeof standard === "string" ? code(standard) : standard === undefined ? "" : "depends";
  const type = kind.name.replaceAll("|", " or ").replaceAll(",…", ", …");
  return `| ${variables.join(", ")} | ${flags.join(", ")} | ${code(place)} | ${shown} | ${help} (${type}) |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
