// The configuration file: YAML, each setting under its key, the store's as the chart has them.

import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readTargets, type ConfiguredTarget } from "./configured-targets.ts";
import { asText, isMap } from "./file-values.ts";
import { unknownName, type Gathered, type Given, type Problem } from "./given.ts";
import { anySettings, type SettingKey } from "./settings.ts";

const configFileName = "keelson.config.yaml";

export interface ConfigFile extends Gathered {
  /** The file that was read; undefined where there is none. */
  readonly path: string | undefined;
  readonly targets: readonly ConfiguredTarget[];
}

/**
 * Reads the file that was named, which must exist, else `keelson.config.yaml` in the working directory, which
 * need not. Relative paths in it are relative to it.
 */
export async function fromFile(
  named: string | undefined,
  workingFolder: string,
): Promise<ConfigFile> {
  const path =
    named === undefined ? join(workingFolder, configFileName) : resolve(workingFolder, named);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (named === undefined && code === "ENOENT")
      return { path: undefined, given: [], targets: [], problems: [] };
    const message = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    return { path, given: [], targets: [], problems: [{ field: path, message }] };
  }

  // Only here: most starts have no file, and the parser takes a while to load.
  const { parseDocument } = await import("yaml");
  const document = parseDocument(content, { prettyErrors: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      field: path,
      // A line of the file follows, with a mark below it; a colon leads there.
      message: `is not YAML: ${(error.message.split("\n")[0] ?? "").replace(/:$/, "")}`,
    }));
    return { path, given: [], targets: [], problems };
  }
  const root: unknown = document.toJS();
  if (root === null || root === undefined) return { path, given: [], targets: [], problems: [] };
  if (!isMap(root)) {
    const message = "must be a map of settings";
    return { path, given: [], targets: [], problems: [{ field: path, message }] };
  }
  const given: Given[] = [];
  const problems: Problem[] = [];
  const { targets: listed, ...settings } = root;
  collect(settings, "", { path, given, problems });
  if (listed === undefined || listed === null) return { path, given, targets: [], problems };
  const { targets, problems: others } = readTargets(listed, path);
  return { path, given, targets, problems: [...problems, ...others] };
}

/** The dotted places of the file, and the setting of each. */
const placesOfFile: ReadonlyMap<string, SettingKey> = new Map(
  anySettings.map(([key, { place = key }]) => [place, key]),
);

/** Parts of the chart's `storage` block that mean something to the chart alone. */
const placesOfChart = new Set([
  "storage.sqlite.persistence",
  "storage.postgresql.existingSecret",
  "storage.postgresql.sslRootCertSecret",
]);

interface Collector {
  readonly path: string;
  readonly given: Given[];
  readonly problems: Problem[];
}

function collect(map: Readonly<Record<string, unknown>>, prefix: string, into: Collector): void {
  for (const [name, value] of Object.entries(map)) {
    const place = `${prefix}${name}`;
    const key = placesOfFile.get(place);
    if (key !== undefined) {
      take(key, place, value, into);
    } else if (placesOfChart.has(place)) {
      continue;
    } else if (
      isMap(value) &&
      [...placesOfFile.keys()].some((known) => known.startsWith(`${place}.`))
    ) {
      collect(value, `${place}.`, into);
    } else {
      const known = [...placesOfFile.keys()];
      into.problems.push(
        unknownName(place, known, "is no setting", (place) => nameIn(place, into.path)),
      );
    }
  }
}

function take(key: SettingKey, place: string, value: unknown, into: Collector): void {
  const name = nameIn(place, into.path);
  const text = asText(value);
  if (text === undefined) {
    into.problems.push({
      field: name,
      message: "must be a text, a number, a list of them or pairs",
    });
  } else if (text.trim() !== "") {
    into.given.push({
      key,
      origin: "file",
      name,
      text: text.trim(),
      folder: dirname(into.path),
    });
  }
}

function nameIn(place: string, path: string): string {
  return `${place} in ${path}`;
}
