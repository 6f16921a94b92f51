// Waiting for a fact of the outside world, which announces nothing.

import { setTimeout as wait } from "node:timers/promises";

const pollMs = 20;
const deadlineMs = 180_000;

/** Asks again and again, soon at first, until the answer is neither undefined nor false. For what is named it says after minutes that it never was. */
export async function until<Fact>(
  ask: () => Promise<Fact | undefined | false> | Fact | undefined | false,
  signal: AbortSignal,
  what?: string,
): Promise<Fact> {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * 1.2, 500)) {
    signal.throwIfAborted();
    const fact = await ask();
    if (fact !== undefined && fact !== false) return fact;
    if (what !== undefined && performance.now() > deadline) {
      throw new Error(`waited ${deadlineMs / 60_000} minutes in vain for ${what}`);
    }
    await wait(pauseMs, undefined, { signal });
  }
}
