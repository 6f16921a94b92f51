// Cuts the log now and then, so that it holds the recent past and not everything.

import type { Clock, Log } from "@keelson/base";
import type { Backend } from "./backend.ts";
import type { Revision } from "./revision.ts";

interface Options {
  readonly backend: Backend;
  readonly compact: (upTo: Revision, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** Who we are among the processes that could do it. */
  readonly holder: string;
  readonly everyMs: number;
}

/**
 * Every `everyMs` cuts the log below the head of the run before, in one process at
 * a time. The interval is measured by a clock that never jumps, and whoever takes
 * over begins a whole interval anew: entries may be kept longer, never shorter.
 */
export async function runCompaction(options: Options, signal: AbortSignal): Promise<void> {
  const { backend, compact, clock, log, holder, everyMs } = options;
  let mark: Revision | undefined;
  while (!signal.aborted) {
    try {
      await clock.sleep(everyMs, signal);
      const claim = await backend.claim("compaction", { holder, ttlMs: everyMs * 2 }, signal);
      if (claim === undefined) {
        mark = undefined;
        continue;
      }
      if (mark !== undefined) await compact(mark, signal);
      mark = await backend.head(signal);
    } catch (error) {
      if (signal.aborted) break;
      log.warn({ error }, "cannot cut the log");
    }
  }
  if (mark === undefined) return;
  try {
    await backend.release("compaction", holder, clock.timeout(2000));
  } catch (error) {
    log.debug({ error }, "the claim on compaction will run out by itself");
  }
}
