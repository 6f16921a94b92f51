// The expectations of the unit tests of the rules, as requests to the real server.

import { readFile } from "node:fs/promises";

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

const folder = "../../../packages/kube/src/kinds/";

type Recorded = readonly [kind: string, body: JsonObject, errors: readonly string[]];

/** Kinds, bodies and what is wrong with them. */
export async function recordedVerdicts(): Promise<readonly Recorded[]> {
  const verdicts = await readJsonFile<readonly Recorded[]>("rules/verdicts.json");
  const examples =
    await readJsonFile<Record<string, { readonly sent: JsonObject }>>("data/examples.json");
  return verdicts.map(([kind, change, errors]) => [
    kind,
    merged(examples[kind]?.sent ?? {}, change),
    errors,
  ]);
}

/** The causes of a refusal, each as one line. */
export function errorsOf(answer: Json | undefined): readonly string[] {
  const details = answer !== undefined && isJsonObject(answer) ? answer["details"] : undefined;
  const causes = details !== undefined && isJsonObject(details) ? details["causes"] : undefined;
  return (causes !== undefined && isJsonArray(causes) ? causes : [])
    .filter(isJsonObject)
    .map(({ field, message }) => {
      if (typeof field !== "string" || typeof message !== "string") return "";
      return `${field}: ${message}`;
    });
}

async function readJsonFile<T>(name: string): Promise<T> {
  const text = await readFile(new URL(`${folder}${name}`, import.meta.url), "utf8");
  return JSON.parse(text) as T;
}

function merged(object: JsonObject, change: JsonObject): JsonObject {
  const copy: Record<string, Json> = { ...object };
  for (const [key, value] of Object.entries(change)) {
    const old = copy[key];
    if (value === null) delete copy[key];
    else if (isJsonObject(value) && old !== undefined && isJsonObject(old)) {
      copy[key] = merged(old, value);
    } else copy[key] = value;
  }
  return copy;
}
