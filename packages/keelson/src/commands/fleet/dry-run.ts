// What would become of manifests: tried by the server and by the clusters, and nothing is kept.

import type { Json } from "@keelson/base";
import { quietFailure } from "../command-error.ts";
import { valueText } from "../output/formats.ts";
import { outcomeText, sendWanted, type ApplyOptions, type Outcome } from "./apply.ts";
import type { DiffField } from "./diff.ts";
import { fullName, type NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import { readWanted, type ManifestOptions, type Wanted } from "./wanted.ts";

/** An object that was tried: by a cluster that would take it, or with the reason why none would. */
export type Tried = Omit<NamedResource, "id"> & {
  readonly place: string;
  readonly answer: Accepted | Declined;
};

interface Accepted {
  readonly outcome: Outcome;
  readonly diff: readonly DiffField[];
  /** The fields of others that it would take, or that it would fail at. */
  readonly conflicts: readonly { readonly field: string; readonly manager: string }[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

interface Declined {
  readonly error: string;
}

/** `keelson apply --dry-run`: ends as a failure where a cluster would not take an object. */
export async function applyDryRun(
  session: Session,
  options: Omit<ApplyOptions, "waitMs">,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, paint } = session;
  const { output } = options;
  const tried = await tryManifests(session, options, signal);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText({ dry_run: true, results: shownOf(tried) }, output));
  } else {
    for (const one of tried) {
      const { answer } = one;
      if (reasonAgainst(answer) !== undefined || !("outcome" in answer)) continue;
      const word = output === "name" ? "" : ` ${outcomeText(paint, answer.outcome)} (dry run)`;
      terminal.write(`${fullName(one)}${word}\n`);
    }
  }
  noteTrials(session, tried);
  if (tried.some(({ answer }) => reasonAgainst(answer) !== undefined)) throw quietFailure();
}

/** Tries the objects of manifests, each in each cluster that was named. */
export async function tryManifests(
  session: Session,
  options: ManifestOptions & Pick<ApplyOptions, "policies">,
  signal: AbortSignal,
): Promise<readonly Tried[]> {
  const wanted = await readWanted(session, options);
  const asked = { policies: options.policies, query: { dryRun: true } };
  const { results } = (await sendWanted(session, wanted, asked, signal)) as unknown as {
    readonly results: readonly Tried["answer"][];
  };
  return results.flatMap((answer, index) => triedOf(wanted[index], answer));
}

/** What machines read of them: the key of each, and all that was answered. */
export function shownOf(tried: readonly Tried[]): Json {
  return tried.map(({ place: _place, answer, ...key }) => ({
    ...key,
    ...answer,
  })) as unknown as Json;
}

/** Says who would refuse what and why, and what else there is to know before it is done for real. */
export function noteTrials({ terminal }: Session, tried: readonly Tried[]): void {
  for (const one of tried) {
    const reason = reasonAgainst(one.answer);
    if (reason !== undefined) {
      terminal.note(`${one.place}: ${fullName(one)} would be refused: ${reason}`);
      continue;
    }
    if (!("outcome" in one.answer)) continue;
    const { conflicts, warnings } = one.answer;
    if (conflicts.length > 0) {
      terminal.note(`${fullName(one)}: would take ${heldFields(conflicts)}`);
    }
    for (const { message } of warnings) terminal.note(`${fullName(one)}: ${message}`);
  }
}

/** Why a cluster would not take it; undefined if it would. */
export function reasonAgainst(answer: Tried["answer"]): string | undefined {
  if ("error" in answer) return answer.error;
  const { conflicts, warnings } = answer;
  const isHeld = warnings.some(({ code }) => code === "conflict");
  return isHeld ? `conflict: others own ${heldFields(conflicts)}` : undefined;
}

function heldFields(conflicts: Accepted["conflicts"]): string {
  return conflicts
    .map(({ field, manager }) => `${field.replace(/^\./, "")} (of ${manager})`)
    .join(", ");
}

function triedOf(wanted: Wanted | undefined, answer: Tried["answer"]): readonly Tried[] {
  if (wanted === undefined) return [];
  const { clusterId: cluster_id, place, desired } = wanted;
  const { namespace, kind, name, api_version } = desired;
  return [{ cluster_id, namespace, kind, name, api_version, place, answer }];
}
