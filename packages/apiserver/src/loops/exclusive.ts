// Work that one replica does at a time: it holds a lease row, and another takes over when it is gone.

import { type Clock, isCancellation, type Log, type Random } from "@keelson/base";
import type { Store } from "@keelson/store";

/**
 * How long nobody works after a holder was killed. That the holder's session has ended would be known sooner, but proves little: a
 * connection may break, or a pooler close it, while the process works on.
 */
const ttlMs = 6_000;
/** A few statements a second for all loops together; two renewals may fail, or take seconds, before the work is given up. */
const renewMs = 1_500;
/** How often the others ask whether the work is free. */
const askMs = 1_000;

/** Runs `work` whenever this process holds the right to, until `signal` aborts. `work` stops when its signal aborts. */
export async function exclusively(
  {
    store,
    clock,
    random,
    log,
    name,
  }: {
    readonly store: Pick<Store, "claim" | "release">;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly name: string;
  },
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const holder = random.uuid();
  const claim = async (within: AbortSignal): Promise<"ours" | "another's" | "unknown"> => {
    try {
      const claimed = await store.claim(name, { holder, ttlMs }, within);
      return claimed === undefined ? "another's" : "ours";
    } catch (error) {
      if (within.aborted) throw error;
      log.debug({ loop: name, error }, "the right to work could not be asked for");
      return "unknown";
    }
  };
  while (!signal.aborted) {
    let askedMs = clock.monotonic();
    if ((await claim(signal)) !== "ours") {
      await clock.sleep(askMs, signal);
      continue;
    }
    const lost = new AbortController();
    const held = AbortSignal.any([signal, lost.signal]);
    /** A little before the lease ends, whatever the database does meanwhile: another may begin then. */
    const giveUp = (): void => lost.abort(new DOMException("the lease was lost", "AbortError"));
    const giveUpLater = (): Disposable =>
      clock.after(askedMs + ttlMs - renewMs - clock.monotonic(), giveUp);
    let end = giveUpLater();
    const renewal = (async (): Promise<void> => {
      while (!held.aborted) {
        await clock.sleep(renewMs, held);
        const nowMs = clock.monotonic();
        const whose = await claim(held);
        if (whose === "another's") giveUp();
        if (whose !== "ours") continue;
        askedMs = nowMs;
        end[Symbol.dispose]();
        if (!held.aborted) end = giveUpLater();
      }
    })().catch(() => undefined);
    try {
      await work(held);
    } catch (error) {
      if (!isCancellation(error, held)) log.error({ loop: name, error }, "a loop failed");
    } finally {
      lost.abort(new DOMException("the work has ended", "AbortError"));
      await renewal;
      end[Symbol.dispose]();
      // Whoever waits need not wait for the lease to run out.
      await store.release(name, holder, clock.timeout(1_000)).catch(() => undefined);
    }
    if (!signal.aborted) await clock.sleep(askMs, signal).catch(() => undefined);
  }
}
