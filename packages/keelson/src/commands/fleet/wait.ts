// Waiting until the clusters have what was asked for.

import { Backoff, systemRandom } from "@keelson/base";
import { CommandError } from "../command-error.ts";
import { readWholes } from "./read-wholes.ts";
import {
  fullName,
  holds,
  reasonOf,
  type ListedResource,
  type NamedResource,
  type ResourceDetails,
} from "./resource-shapes.ts";
import { listResources } from "./select.ts";
import type { Session } from "../session.ts";

/** What is waited for. */
export type Goal = "synced" | "gone";

export interface WaitOptions {
  readonly goal: Goal;
  readonly timeoutMs: number;
}

/** Failures that no amount of waiting mends: somebody has to change something. */
const lasting = new Set(["invalid", "immutable", "forbidden", "conflict"]);

/** So many are looked at one by one; the others are first thinned out by a list. */
const singlesMax = 50;

/**
 * Says of each resource when it is as wanted, and resolves when all are. Throws with the reasons as soon as one cannot
 * become so by itself, or when the time is up.
 */
export async function waitFor(
  session: Session,
  resources: readonly NamedResource[],
  { goal, timeoutMs }: WaitOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, tell } = session;
  const startMs = clock.monotonic();
  // Mostly it is there within milliseconds; whoever waits longer asks less.
  const backoff = new Backoff({ initialMs: 50, maxMs: 1_000, random: systemRandom });
  let waiting = resources;
  const leaveOut = (isDone: (one: NamedResource) => boolean): void => {
    for (const done of waiting.filter(isDone)) tell(fullName(done), goal);
    waiting = waiting.filter((one) => !isDone(one));
  };
  for (;;) {
    if (waiting.length > singlesMax) {
      const listed = await listResources(session.client, { labels: [] }, {}, signal);
      leaveOut(doneIn(listed, goal));
    }
    const looked = waiting.slice(0, singlesMax);
    const seen = await readWholes(session.client, looked, signal);
    const isDone = doneIn(seen, goal);
    leaveOut((one) => looked.includes(one) && isDone(one));
    if (waiting.length === 0) return;

    const isLate = clock.monotonic() - startMs >= timeoutMs;
    const failures = looked
      .filter((one) => waiting.includes(one))
      .map((one) => {
        const details = seen.find(({ id }) => id === one.id);
        if (details === undefined) return `${fullName(one)} is gone`;
        const hopeless = goal === "synced" && cannotSync(details);
        if (!hopeless && !isLate) return undefined;
        const late = isLate && !hopeless ? ` still, after ${timeoutMs / 1000} s` : "";
        const reason = reasonOf(details) ?? "no reason is known";
        return `${fullName(one)}: ${details.status}${late}: ${reason}`;
      })
      .filter((failure) => failure !== undefined);
    if (failures.length > 0) throw new CommandError(failures.join("\n  "));
    await clock.sleep(backoff.next(), signal);
  }
}

function doneIn(
  seen: readonly Pick<ListedResource, "id" | "status">[],
  goal: Goal,
): (one: NamedResource) => boolean {
  const statuses = new Map(seen.map(({ id, status }) => [id, status]));
  return ({ id }) => (goal === "gone" ? !statuses.has(id) : statuses.get(id) === "synced");
}

function cannotSync(details: ResourceDetails): boolean {
  const { status, last_error: error, conditions } = details;
  if (status === "error") return lasting.has(error?.class ?? "");
  const isUnknown = conditions.some(({ reason }) => reason === "UnknownTarget");
  return isUnknown || holds(details, "Paused") !== undefined;
}
