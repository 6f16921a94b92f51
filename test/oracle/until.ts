// Waiting for a fact of the outside world, which announces nothing.

import { setTimeout as wait } from "node:timers/promises";

const pollMs = 20;

/** Asks again and again, soon at first, until the answer is neither undefined nor false. */
export async function until<Fact>(
  ask: () => Promise<Fact | undefined | false> | Fact | undefined | false,
  signal: AbortSignal,
): Promise<Fact> {
  for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * 1.2, 500)) {
    signal.throwIfAborted();
    const fact = await ask();
    if (fact !== undefined && fact !== false) return fact;
    await wait(pauseMs, undefined, { signal });
  }
}
