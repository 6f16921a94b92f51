// Work that one replica does at a time: it holds a lease row, and another takes over when it is gone.

import { type Clock, isCancellation, type Log, type Random } from "@keelson/base";
import type { Store } from "@keelson/store";

const ttlMs = 15_000;
const renewMs = 5_000;
/** How often the others ask whether the work is free. */
const askMs = 2_000;

/** Runs `work` whenever this process holds the right to, until `signal` aborts. `work` stops when its signal aborts. */
export async function exclusively(
  {
    store,
    clock,
    random,
    log,
    name,
  }: {
    readonly store: Store;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly name: string;
  },
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const holder = random.uuid();
  const claim = async (within: AbortSignal): Promise<boolean> => {
    try {
      return (await store.claim(name, { holder, ttlMs }, within)) !== undefined;
    } catch (error) {
      if (within.aborted) throw error;
      log.debug({ loop: name, error }, "the right to work could not be asked for");
      return false;
    }
  };
  while (!signal.aborted) {
    if (!(await claim(signal))) {
      await clock.sleep(askMs, signal);
      continue;
    }
    const lost = new AbortController();
    const held = AbortSignal.any([signal, lost.signal]);
    const renewal = (async (): Promise<void> => {
      let heldUntilMs = clock.monotonic() + ttlMs;
      while (!held.aborted) {
        await clock.sleep(renewMs, held);
        const askedMs = clock.monotonic();
        if (await claim(held)) heldUntilMs = askedMs + ttlMs;
        // A little before the lease ends: another may begin then.
        else if (clock.monotonic() > heldUntilMs - renewMs) {
          lost.abort(new DOMException("the lease was lost", "AbortError"));
        }
      }
    })().catch(() => undefined);
    try {
      await work(held);
    } catch (error) {
      if (!isCancellation(error, held)) log.error({ loop: name, error }, "a loop failed");
    } finally {
      lost.abort(new DOMException("the work has ended", "AbortError"));
      await renewal;
      // Whoever waits need not wait for the lease to run out.
      await store.release(name, holder, clock.timeout(1_000)).catch(() => undefined);
    }
    if (!signal.aborted) await clock.sleep(askMs, signal).catch(() => undefined);
  }
}
