// Copies of global resources refuse to be changed by themselves: what changes all of them instead.

import { Refused } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import { fullName, shortName, type NamedResource } from "./resource-shapes.ts";

const does = {
  delete: "deletes all its copies",
  "delete --orphan": "forgets all its copies, and their objects stay",
  pause: "pauses all its copies",
  resume: "resumes all its copies",
  "rollback --to-revision N": "rolls back all its copies",
} as const;

/** What global resources have as well, with the flags that matter. */
export type GlobalVerb = keyof typeof does;

/** Whether the server said no because it is a copy. */
export function isOfGlobal(error: unknown): boolean {
  return error instanceof Refused && error.code === "GLOBAL_COPY";
}

/** What it is, and the command that does the same to all. */
export function copyText(copy: NamedResource, verb: GlobalVerb): string {
  const place = copy.namespace === "" ? "" : ` -n ${copy.namespace}`;
  const command = `keelson global ${verb} ${shortName(copy)}${place}`;
  return `a copy of a global resource: "${command}" ${does[verb]}`;
}

/** Throws if there are copies, with a line for each. */
export function refuseCopies(copies: readonly NamedResource[], verb: GlobalVerb): void {
  if (copies.length === 0) return;
  throw new CommandError(refusedCopies(copies, verb).join("\n  "));
}

/** A line for each. */
export function refusedCopies(
  copies: readonly NamedResource[],
  verb: GlobalVerb,
): readonly string[] {
  return copies.map((copy) => `${fullName(copy)} is ${copyText(copy, verb)}`);
}
