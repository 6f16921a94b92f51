// PUTs: one whose way into the cluster is timed, and many at a pace.

import { systemClock } from "@keelson/base";
import { specOf, type Bed } from "./bed.ts";
import type { Sightings } from "./sightings.ts";

let stamps = 0;

/** From sending the PUT to the watch that shows the object changed, in milliseconds. */
export async function timedPut(bed: Bed, id: number, sightings: Sightings): Promise<number> {
  const stamp = newStamp();
  const seen = sightings.of(stamp);
  const sentMs = performance.now();
  const [seenMs] = await Promise.all([seen, bed.ask("PUT", `/resources/${id}`, specOf(stamp))]);
  return seenMs - sentMs;
}

/** A text that no write before it carried. */
export function newStamp(): string {
  return `write ${++stamps}`;
}

export interface Pace {
  readonly perSecond: number;
  readonly isOver: () => boolean;
}

/** More than so many unanswered say that the pace cannot be kept; then it is not. */
const unansweredMax = 64;

/** Calls at a pace, whether those before are answered or not; gives how many a second there were. Throws if one fails. */
export async function atPace(
  { perSecond, isOver }: Pace,
  call: (index: number) => Promise<unknown>,
  signal: AbortSignal,
): Promise<number> {
  const startMs = performance.now();
  const unanswered = new Set<Promise<unknown>>();
  const failed: unknown[] = [];
  let made = 0;
  for (; !isOver() && failed.length === 0; made += 1) {
    const waitMs = startMs + (made * 1000) / perSecond - performance.now();
    if (waitMs > 0) await systemClock.sleep(waitMs, signal);
    while (unanswered.size >= unansweredMax) await Promise.race(unanswered);
    const answered: Promise<unknown> = call(made)
      .catch((error: unknown) => failed.push(error))
      .finally(() => unanswered.delete(answered));
    unanswered.add(answered);
  }
  const seconds = (performance.now() - startMs) / 1000;
  await Promise.all(unanswered);
  if (failed.length > 0) throw failed[0];
  return made / seconds;
}
