// Where two values differ.

import { isJsonArray, isJsonObject, jsonEqual, writeJson, type Json } from "@keelson/base";

export interface Difference {
  /** `.spec.containers[0].name`; empty for the whole value. */
  readonly path: string;
  /** Undefined where that side has nothing. */
  readonly oracle: Json | undefined;
  readonly ours: Json | undefined;
}

/** The innermost differences, in the order of the oracle's value. Order of members does not count. */
export function compare(oracle: Json | undefined, ours: Json | undefined): readonly Difference[] {
  return [...differencesAt("", oracle, ours)];
}

/** One difference in a line. */
export function describeDifference({ path, oracle, ours }: Difference): string {
  return `${path || "(all)"}: oracle ${textOf(oracle)}, ours ${textOf(ours)}`;
}

function* differencesAt(
  path: string,
  oracle: Json | undefined,
  ours: Json | undefined,
): Generator<Difference> {
  if (oracle !== undefined && ours !== undefined) {
    if (jsonEqual(oracle, ours)) return;
    if (isJsonArray(oracle) && isJsonArray(ours)) {
      for (let index = 0; index < Math.max(oracle.length, ours.length); index += 1) {
        yield* differencesAt(`${path}[${index}]`, oracle[index], ours[index]);
      }
      return;
    }
    if (isJsonObject(oracle) && isJsonObject(ours)) {
      for (const key of new Set([...Object.keys(oracle), ...Object.keys(ours)])) {
        const member = /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
        yield* differencesAt(`${path}${member}`, own(oracle, key), own(ours, key));
      }
      return;
    }
  }
  if (oracle !== ours) yield { path, oracle, ours };
}

function own(object: Readonly<Record<string, Json>>, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = writeJson(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
