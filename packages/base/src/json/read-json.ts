// Reads JSON without loss. Almost every text is one that `JSON.parse` would not lose anything of either: a
// survey finds out, and only the others pay for a parser of our own.

import { parseCarefully, type CarefulOptions, type CarefulResult } from "./careful-parser.ts";
import { isJsonArray, isJsonObject, type MutableJson } from "./json.ts";
import { survey } from "./survey.ts";

export interface ReadJsonOptions {
  /** How deeply arrays and objects may be nested; 512 unless told. */
  readonly depthMax?: number;
  /** What an object that says a key twice means: an error, or that the last one counts, as it does unless told. */
  readonly duplicates?: "refuse" | "last";
}

/** A value, and which keys its text said twice. */
export interface JsonReport {
  /** The value; of a key said twice, the last one counts. */
  readonly value: MutableJson;
  /**
   * The paths of keys said twice, as Kubernetes writes them: `spec.paused`, `spec.containers[0].name`. Each
   * once, in the order of the text. At most 100 from the first 1,000 repetitions; keys are cut after 200
   * characters.
   */
  readonly duplicates: readonly string[];
  /** For each of them, how many different keys its object had when the key was said again. */
  readonly membersBefore: readonly number[];
}

/**
 * Reads a JSON text without losing anything of its numbers; `Json` states which value stands for which text.
 *
 * Throws a `JsonSyntaxError` for anything else. Takes linear time, and neither depth nor size overflows the
 * stack. The value belongs to the caller and keeps nothing of the text in memory. Keys that look like array
 * indexes come first, in their order, as in every JavaScript object.
 */
export function readJson(text: string, options: ReadJsonOptions = {}): MutableJson {
  const { depthMax = depthMaxDefault, duplicates = "last" } = options;
  return read(text, { depthMax, duplicates }).value;
}

/** Reads as `readJson` does, and reports the keys that were said twice instead of refusing them. */
export function readJsonReport(
  text: string,
  { depthMax = depthMaxDefault }: Pick<ReadJsonOptions, "depthMax"> = {},
): JsonReport {
  return read(text, { depthMax, duplicates: "report" });
}

const depthMaxDefault = 512;

/** The most depth that `countMembers` may recurse into. */
const countDepthMax = 1_000;

function read(text: string, options: CarefulOptions): CarefulResult {
  const found = survey(text, options.depthMax);
  if (found === undefined) return parseCarefully(text, options);

  let value: MutableJson;
  try {
    value = JSON.parse(text) as MutableJson;
  } catch {
    return parseCarefully(text, options); // It says what is wrong, and where.
  }
  // A key said twice is mentioned twice and there once.
  const isUnique =
    options.duplicates === "last" ||
    (found.depth <= countDepthMax && countMembers(value) === found.members);
  return isUnique ? { value, duplicates: [], membersBefore: [] } : parseCarefully(text, options);
}

function countMembers(value: MutableJson): number {
  let members = 0;
  if (isJsonArray(value)) {
    for (const item of value) {
      if (typeof item === "object" && item !== null) members += countMembers(item);
    }
  } else if (isJsonObject(value)) {
    const keys = Object.keys(value);
    members = keys.length;
    for (const key of keys) {
      const member = value[key];
      if (typeof member === "object" && member !== null) members += countMembers(member);
    }
  }
  return members;
}
