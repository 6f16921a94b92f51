// Waiting until the clusters have what was asked for.

import { CommandError } from "../command-error.ts";
import { stillAfter, waitUntil } from "../wait-until.ts";
import { findGlobalById, type ListedGlobal } from "./read-globals.ts";
import { readWholes } from "./read-wholes.ts";
import {
  fullName,
  holds,
  reasonOf,
  shortName,
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
  const { tell } = session;
  let waiting = resources;
  const leaveOut = (isDone: (one: NamedResource) => boolean): void => {
    for (const done of waiting.filter(isDone)) tell(fullName(done), goal);
    waiting = waiting.filter((one) => !isDone(one));
  };
  const look = async (isLate: boolean): Promise<boolean> => {
    if (waiting.length > singlesMax) {
      const listed = await listResources(session.client, { labels: [] }, {}, signal);
      leaveOut(doneIn(listed, goal));
    }
    const looked = waiting.slice(0, singlesMax);
    const seen = await readWholes(session.client, looked, signal);
    const isDone = doneIn(seen, goal);
    leaveOut((one) => looked.includes(one) && isDone(one));
    if (waiting.length === 0) return true;

    const failures = looked
      .filter((one) => waiting.includes(one))
      .map((one) => {
        const details = seen.find(({ id }) => id === one.id);
        if (details === undefined) return `${fullName(one)} is gone`;
        const hopeless = isHopeless(details, goal);
        if (!hopeless && !isLate) return undefined;
        const late = isLate && !hopeless ? stillAfter(timeoutMs) : "";
        const reason = reasonOf(details) ?? "no reason is known";
        return `${fullName(one)}: ${details.status}${late}: ${reason}`;
      })
      .filter((failure) => failure !== undefined);
    if (failures.length > 0) throw new CommandError(failures.join("\n  "));
    return false;
  };
  await waitUntil(session, timeoutMs, look, signal);
}

/** Says when a global resource is as wanted; throws with the clusters that lag behind when the time is up. */
export async function waitForGlobal(
  session: Session,
  global: Pick<ListedGlobal, "id" | "kind" | "name" | "api_version">,
  { goal, timeoutMs }: WaitOptions,
  signal: AbortSignal,
): Promise<void> {
  const name = shortName(global);
  const look = async (isLate: boolean): Promise<boolean> => {
    const seen = await findGlobalById(session, global.id, signal);
    if (goal === "gone" ? seen === undefined : seen?.status === "synced") return true;
    if (seen === undefined) throw new CommandError(`${name} is gone`);
    if (seen.paused) {
      const does = goal === "gone" ? "deleted" : "applied";
      throw new CommandError(`${name} is paused: nothing is ${does} until it is resumed`);
    }
    if (!isLate) return false;
    const behind = seen.cluster_statuses
      .filter(({ status }) => status !== "synced")
      .map(({ cluster_id, status }) => `${cluster_id} (${status})`);
    const reason = behind.join(", ") || "no reason is known";
    throw new CommandError(`${name}: ${seen.status}${stillAfter(timeoutMs)}: ${reason}`);
  };
  await waitUntil(session, timeoutMs, look, signal);
  session.tell(name, goal);
}

function doneIn(
  seen: readonly Pick<ListedResource, "id" | "status">[],
  goal: Goal,
): (one: NamedResource) => boolean {
  const statuses = new Map(seen.map(({ id, status }) => [id, status]));
  return ({ id }) => (goal === "gone" ? !statuses.has(id) : statuses.get(id) === "synced");
}

/** Whether it cannot become as wanted by itself. */
function isHopeless(details: ResourceDetails, goal: Goal): boolean {
  const { status, last_error: error, conditions } = details;
  if (goal === "synced" && status === "error") return lasting.has(error?.class ?? "");
  const isUnknown = conditions.some(({ reason }) => reason === "UnknownTarget");
  return isUnknown || holds(details, "Paused") !== undefined;
}
