// What was given, before anybody judges it: texts by setting, and where each came from.

import { BadValue } from "./kinds.ts";
import { closest } from "./closest.ts";
import { flagOf, variableOf } from "./setting.ts";
import { anySettings, type SettingKey } from "./settings.ts";

/** Where a value came from. Flags win over variables, variables over the file, the file over defaults. */
export type Origin = "flag" | "variable" | "file" | "default";

/** One text that somebody gave for one setting. */
export interface Given {
  readonly key: SettingKey;
  readonly origin: Origin;
  /** As the user wrote it: `--port`, `PORT`, `port in keelson.config.yaml`. */
  readonly name: string;
  readonly text: string;
  /** Relative paths are relative to this folder. */
  readonly folder: string;
}

/** Something wrong with what was given: which name, what about it, and where it helps, what to do. */
export interface Problem {
  readonly field: string;
  readonly message: string;
  readonly fix?: string;
}

export interface Gathered {
  readonly given: readonly Given[];
  readonly problems: readonly Problem[];
}

/** Flags by their name without dashes, as the command line had them: none is empty. Those that are no settings are left alone. */
export type Flags = Readonly<Record<string, string | undefined>>;

export function fromFlags(flags: Flags, folder: string): Gathered {
  const given = anySettings.flatMap(([key, { flagAliases = [] }]) =>
    [flagOf(key), ...flagAliases].flatMap((flag) => {
      const text = flags[flag]?.trim();
      return text === undefined
        ? []
        : [{ key, origin: "flag" as const, name: `--${flag}`, text, folder }];
    }),
  );
  return { given, problems: [] };
}

/** Variables of the environment. An empty one counts as unset, as compose files and charts leave them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function fromEnvironment(environment: Environment, folder: string): Gathered {
  const given: Given[] = [];
  const problems: Problem[] = [];
  const known = new Set<string>(otherVariables);
  for (const [key, { aliases = [] }] of anySettings) {
    for (const { variable, read } of [{ variable: variableOf(key), read: undefined }, ...aliases]) {
      known.add(variable);
      const raw = environment[variable]?.trim() ?? "";
      if (raw === "") continue;
      try {
        const text = read === undefined ? raw : read(raw);
        if (text !== undefined) {
          given.push({ key, origin: "variable", name: variable, text, folder });
        }
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
        problems.push({ field: variable, message: `${JSON.stringify(raw)} ${error.message}` });
      }
    }
  }
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith("KEELSON_") || known.has(variable)) continue;
    if (isServiceLink(variable, value ?? "") || variable.startsWith("KEELSON_TEST_")) continue;
    problems.push(unknownName(variable, [...known], "is no setting"));
  }
  return { given, problems };
}

/** The problem of a name that nobody knows, with the one that was probably meant. */
export function unknownName(
  field: string,
  known: readonly string[],
  message: string,
  nameOf: (field: string) => string = (field) => field,
): Problem {
  const meant = closest(field, known);
  return {
    field: nameOf(field),
    message,
    ...(meant === undefined ? {} : { fix: `did you mean ${meant}?` }),
  };
}

/** Variables of ours that are no settings of the server: where the file is, and what commands talk to. */
const otherVariables = ["KEELSON_CONFIG", "KEELSON_SERVER", "KEELSON_TOKEN"];

/** Whether Kubernetes set it, as it does in every pod beside a Service whose name begins with `keelson`. */
function isServiceLink(variable: string, value: string): boolean {
  return (
    /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/.test(variable) ||
    (variable.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value))
  );
}
