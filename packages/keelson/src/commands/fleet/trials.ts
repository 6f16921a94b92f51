// What is said of writes that are only tried, by the server and by the clusters.

import type { JsonObject } from "@keelson/base";
import { Refused } from "../client/rest-client.ts";
import { quietFailure } from "../command-error.ts";
import type { DiffField } from "./diff.ts";
import { outcomeText, type Outcome } from "./outcome.ts";
import { fullName, type NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

/** The query that makes a trial of a write. */
export const asTrial = { dryRun: true } as const;

/** What a cluster would make of it. */
export interface Accepted {
  /** Of a new object, what it would have become; null where there would be none, or where nobody knows. */
  readonly result: JsonObject | null;
  readonly diff: readonly DiffField[];
  /** The fields of others that it would take, or that it would fail at. */
  readonly conflicts: readonly { readonly field: string; readonly manager: string }[];
  readonly warnings: readonly Warning[];
}

interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Why no cluster would take it. */
export interface Declined {
  readonly error: string;
}

/** A write that was tried. */
export interface Trial {
  /** What it was about. */
  readonly name: string;
  /** Where it was asked for, if not by that name. */
  readonly place?: string;
  /** What would be said if it were done. */
  readonly word: string;
  readonly answer: Accepted | Declined;
}

/** Refusals that are a cluster's, or that there is none to ask. */
const ofClusters: readonly string[] = ["TARGET_UNKNOWN", "TARGET_UNREACHABLE", "TARGET_REFUSED"];

/** The answer to one trial. What the server itself refuses is thrown, as that of a write. */
export async function trialAnswer<Answer = Accepted>(
  request: Promise<JsonObject>,
): Promise<Answer | Declined> {
  try {
    return (await request) as unknown as Answer;
  } catch (error) {
    if (!(error instanceof Refused) || !ofClusters.includes(error.code)) throw error;
    return { error: error.message };
  }
}

/** Says what would come of each, who would refuse what and why, and what else there is to know. Fails if any is refused. */
export function tellTrials({ terminal, tell }: Session, trials: readonly Trial[]): void {
  for (const { name, word, answer } of trials) {
    if (reasonAgainst(answer) === undefined) tell(name, `${word} (dry run)`);
  }
  noteTrials({ terminal }, trials);
  if (trials.some(({ answer }) => reasonAgainst(answer) !== undefined)) throw quietFailure();
}

/** Only who would refuse what and why, and what else there is to know before it is done for real. */
export function noteTrials(
  { terminal }: Pick<Session, "terminal">,
  trials: readonly Omit<Trial, "word">[],
): void {
  for (const { name, place, answer } of trials) {
    const reason = reasonAgainst(answer);
    if (reason !== undefined) {
      const where = place === undefined ? "" : `${place}: `;
      terminal.note(`${where}${name} would be refused: ${reason}`);
      continue;
    }
    if ("error" in answer) continue;
    const { conflicts, warnings } = answer;
    if (conflicts.length > 0) terminal.note(`${name}: would take ${heldFields(conflicts)}`);
    for (const { message } of warnings) terminal.note(`${name}: ${message}`);
  }
}

/** Why a cluster would not take it; undefined if it would. */
export function reasonAgainst(answer: Accepted | Declined): string | undefined {
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

/** A copy of a global resource that was tried in its cluster. */
export type CopyTried = (Accepted | Declined) & { readonly outcome: Outcome };

/** The same of a copy. */
export function copyTrial(
  { paint }: Session,
  copy: Omit<NamedResource, "id">,
  tried: CopyTried,
): Trial {
  return { name: fullName(copy), word: outcomeText(paint, tried.outcome), answer: tried };
}
