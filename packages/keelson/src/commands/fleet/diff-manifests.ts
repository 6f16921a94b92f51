// `keelson diff -f`: what an apply of manifests would change, field by field.

import { jsonEqual, type Json } from "@keelson/base";
import { quietFailure } from "../command-error.ts";
import { valueText } from "../output/formats.ts";
import { diffText, isOurs, noteHidden, type DiffField, type DiffOptions } from "./diff.ts";
import { shownOf, tryManifests } from "./dry-run.ts";
import { fullName } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import { noteTrials, reasonAgainst } from "./trials.ts";
import type { ManifestOptions } from "./wanted.ts";

/** Shows it; ends as a failure where anything would change, or where a cluster would not take an object. */
export async function diffManifests(
  session: Session,
  { output, isForeign, ...manifests }: ManifestOptions & Pick<DiffOptions, "output" | "isForeign">,
  signal: AbortSignal,
): Promise<void> {
  const { terminal } = session;
  const tried = await tryManifests(session, { ...manifests, policies: {} }, signal);
  const found = tried.map((one) => ({
    name: fullName(one),
    fields: "diff" in one.answer ? one.answer.diff.filter(wouldChange) : [],
  }));
  const differing = found.filter(({ fields }) => fields.some(isOurs));
  if (output === "json" || output === "yaml") {
    const shown: Json = { dry_run: true, results: shownOf(tried) };
    terminal.write(await valueText(shown, output));
  } else if (output === "name") {
    terminal.write(differing.map(({ name }) => `${name}\n`).join(""));
  } else {
    for (const { name, fields } of found) {
      const shown = fields.filter((field) => isForeign || isOurs(field));
      if (shown.length === 0) continue;
      const isBare = shown.every(isWhole);
      terminal.write(
        isBare ? `${name}: would be created\n` : await diffText(session, name, shown, pendingText),
      );
      noteHidden(session, name, fields.length - shown.length);
    }
  }
  noteTrials(
    session,
    tried.map((one) => ({ name: fullName(one), place: one.place, answer: one.answer })),
  );
  const isRefused = tried.some(({ answer }) => reasonAgainst(answer) !== undefined);
  if (differing.length > 0 || isRefused) throw quietFailure();
  if (output === "table") terminal.note(found.length === 1 ? "no difference" : "no differences");
}

/** Whether an apply would change it: what others have set to the very value that is wanted stays what it is. */
export function wouldChange(field: DiffField): boolean {
  const { desired, current } = field;
  return isWhole(field) ? current === null : !jsonEqual(desired, current);
}

/** An object of which nothing is wanted but that it is there, as of a Namespace, has no field that could differ. */
function isWhole({ path }: DiffField): boolean {
  return path === "";
}

export function pendingText({ owner, desired, current }: DiffField): string {
  if (current === null) return "would be added";
  const whose = owner === null || owner === "kontrol" ? "" : `, it is of ${owner}`;
  return `would be ${desired === null ? "removed" : "changed"}${whose}`;
}
