// What is said of finalizers that may collide with those of others.

import { isJsonArray, isJsonObject, type JsonObject } from "@keelson/base";
import { labelKeyProblems, memberOf } from "@keelson/kube";

const standard: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** A warning for each new finalizer that has no domain of its own. */
export function finalizerWarnings(object: JsonObject, old: JsonObject | undefined): string[] {
  const known = new Set(old === undefined ? [] : finalizersOf(old));
  const added = [...new Set(finalizersOf(object))].filter((finalizer) => !known.has(finalizer));
  return added.sort().flatMap((finalizer) => {
    const say = (problem: string): string =>
      `metadata.finalizers: ${JSON.stringify(finalizer)}: ${problem}`;
    const problems = labelKeyProblems(finalizer).map(say);
    if (finalizer.includes("/") || standard.has(finalizer)) return problems;
    const name = finalizer.includes(".") ? "name including a path (/)" : "name";
    return [
      ...problems,
      say(
        `prefer a domain-qualified finalizer ${name} to avoid accidental conflicts with other finalizer writers`,
      ),
    ];
  });
}

function finalizersOf(object: JsonObject): string[] {
  const metadata = memberOf(object, "metadata");
  const finalizers = isJsonObject(metadata) ? memberOf(metadata, "finalizers") : undefined;
  if (!isJsonArray(finalizers)) return [];
  return finalizers.filter((finalizer) => typeof finalizer === "string");
}
