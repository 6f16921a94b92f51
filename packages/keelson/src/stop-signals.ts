// How a user tells us to stop: once politely, twice if that takes too long.

import type { Clock } from "@keelson/base";

export interface StopSignalsOptions {
  readonly clock: Clock;
  /** How long an orderly stop may take. */
  readonly graceMs: number;
  /** Called once, when a stop begins. */
  readonly onStop: (signal: NodeJS.Signals) => void;
  /** Ends the process at once. */
  readonly quit: (why: "interrupted" | "grace") => void;
}

/** Aborts at the first SIGTERM, SIGINT or SIGHUP. Disposing lets go of the signals and of the grace period. */
export interface StopSignals extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * One Ctrl-C may arrive twice: the terminal sends it to every process of the group, and `npm start` passes it on
 * once more. What comes this soon after the first is the same one.
 */
const sameInterruptMs = 700;

export function stopSignals({ clock, graceMs, onStop, quit }: StopSignalsOptions): StopSignals {
  const controller = new AbortController();
  let grace: Disposable | undefined;
  let begunMs = 0;

  const stop = (name: NodeJS.Signals): void => {
    if (!controller.signal.aborted) {
      begunMs = clock.monotonic();
      grace = clock.after(graceMs, () => quit("grace"));
      onStop(name);
      controller.abort(new DOMException(`stopped by ${name}`, "AbortError"));
    } else if (name === "SIGINT" && clock.monotonic() - begunMs > sameInterruptMs) {
      quit("interrupted");
    }
  };
  for (const name of names) process.on(name, stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, stop);
      grace?.[Symbol.dispose]();
    },
  };
}

const names = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
