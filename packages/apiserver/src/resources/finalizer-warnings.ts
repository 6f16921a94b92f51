// What is said of finalizers that may collide with those of others.

import { type JsonObject } from "@keelson/base";
import { labelKeyProblems, quote } from "@keelson/kube";

import { finalizersOf } from "../object-metadata.ts";

const standard: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** A warning for each new finalizer that has no domain of its own. */
export function finalizerWarnings(object: JsonObject, old: JsonObject | undefined): string[] {
  const known = new Set(old === undefined ? [] : finalizersOf(old));
  const added = [...new Set(finalizersOf(object))].filter((finalizer) => !known.has(finalizer));
  return added.sort().flatMap((finalizer) => {
    const say = (problem: string): string => `metadata.finalizers: ${quote(finalizer)}: ${problem}`;
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
