// From what was given to one value per setting, with every problem on the way.

import { BadValue } from "./kinds.ts";
import type { Given, Origin, Problem } from "./given.ts";
import { variableOf, type Circumstances, type Setting } from "./setting.ts";
import { anySettings, type SettingKey, type Values } from "./settings.ts";

/** Where the value in force came from. */
export interface Source {
  readonly origin: Origin;
  /** The flag, the variable, the place in the file; of a default, why it is this one, or empty. */
  readonly name: string;
}

export type Sources = Readonly<Record<SettingKey, Source>>;

export interface Resolved {
  readonly values: Values;
  readonly sources: Sources;
  readonly problems: readonly Problem[];
  /** Settings for which something was given that could not be read. */
  readonly unread: ReadonlySet<SettingKey>;
}

/**
 * Takes for each setting the value of the strongest origin. Every given text is read, also those that lose: a
 * value that would stop the next start should be known now. Two names of one origin that disagree are a problem.
 */
export function resolveSettings(
  given: readonly Given[],
  { isTerminal, folder }: { readonly isTerminal: boolean; readonly folder: string },
): Resolved {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const unread = new Set<SettingKey>();

  for (const [key, setting] of anySettings) {
    const texts = given.filter((one) => one.key === key);
    const readings = texts.flatMap((one) => readGiven(one, setting, problems));
    if (readings.length < texts.length) unread.add(key);
    for (const origin of origins) reportDisagreement(readings, origin, problems);
    const winner = origins
      .map((origin) => readings.find((one) => one.given.origin === origin))
      .find((reading) => reading !== undefined);
    if (winner !== undefined) {
      values[key] = winner.value;
      sources[key] = { origin: winner.given.origin, name: winner.given.name };
    } else if (typeof setting.default !== "function") {
      values[key] =
        setting.default === undefined ? undefined : setting.kind.read(setting.default, { folder });
      sources[key] = { origin: "default", name: "" };
    }
  }
  for (const [key, setting] of anySettings) {
    if (key in sources || typeof setting.default !== "function") continue;
    const circumstances: Circumstances = { values, isTerminal };
    const derived = setting.default(circumstances);
    values[key] = derived === undefined ? undefined : setting.kind.read(derived.text, { folder });
    sources[key] = { origin: "default", name: derived?.because ?? "" };
  }
  // Every key of the table was just given a value of its own kind.
  return { values: values as unknown as Values, sources: sources as Sources, problems, unread };
}

interface Reading {
  readonly given: Given;
  readonly value: unknown;
  /** The value as its kind writes it: two texts that mean the same agree. */
  readonly canonical: string;
}

const origins: readonly Origin[] = ["flag", "variable", "file"];

function readGiven(
  given: Given,
  setting: Setting<unknown>,
  problems: Problem[],
): readonly Reading[] {
  try {
    const value = setting.kind.read(given.text, { folder: given.folder });
    return [{ given, value, canonical: setting.kind.write(value) }];
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const shown = setting.secret === undefined ? `${JSON.stringify(given.text)} ` : "";
    problems.push({ field: given.name, message: `${shown}${error.message}` });
    return [];
  }
}

function reportDisagreement(
  readings: readonly Reading[],
  origin: Origin,
  problems: Problem[],
): void {
  const [first, ...others] = readings.filter(({ given }) => given.origin === origin);
  const other = others.find(({ canonical }) => canonical !== first?.canonical);
  if (first === undefined || other === undefined) return;
  problems.push({
    field: first.given.name,
    message: `and ${other.given.name} disagree`,
    fix: `keep one of them, ${origin === "variable" ? variableOf(first.given.key) : first.given.name} for example`,
  });
}
