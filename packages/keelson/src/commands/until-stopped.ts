// What every command that runs a server shares: log, signals, what is measured, and the end of it.

import {
  isCancellation,
  systemClock,
  systemRandom,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import type { Config } from "../config.ts";
import { keepCompiled } from "../keep-compiled.ts";
import { newLog } from "../logging.ts";
import { PrometheusMetrics } from "../prometheus.ts";
import type { Addresses } from "../run-file.ts";
import { exitFailure, exitInterrupted } from "../start-error.ts";
import { startFailure } from "../start-failure.ts";
import { stopSignals } from "../stop-signals.ts";
import { keelsonVersion } from "../version.ts";

export interface UntilStoppedOptions {
  readonly config: Config;
  /** Ends the process at once; without a code, with the one that is decided. */
  readonly exit: (code?: number) => void;
  readonly onReady?: (addresses: Addresses, version: string) => void;
  readonly onStop?: () => void;
}

/** What a server is built from. */
export interface ServerParts {
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  readonly onReady: (addresses: Addresses) => void;
}

/** Runs `serve` until it is told to stop; resolves after an orderly end. Throws a `StartError` for what a user can act on. */
export async function untilStopped(
  { config, exit, onReady, onStop }: UntilStoppedOptions,
  serve: (parts: ServerParts, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const clock = systemClock;
  const version = keelsonVersion();
  const log = newLog({ level: config.logLevel, format: config.logFormat });
  using stop = stopSignals({
    clock,
    graceMs: config.shutdownGrace,
    onStop: (signal) => {
      log.info({ signal }, "stopping");
      onStop?.();
    },
    quit: (why) => {
      log.warn({ why }, "quitting without an orderly stop");
      exit(why === "interrupted" ? exitInterrupted : exitFailure);
    },
  });
  const parts: ServerParts = {
    config,
    version,
    clock,
    random: systemRandom,
    log,
    metrics: new PrometheusMetrics({ withProcess: true }),
    onReady: (addresses) => {
      const { database: _withPassword, ...shown } = addresses;
      log.info({ version, ...shown }, "ready");
      onReady?.(addresses, version);
      keepCompiled();
    },
  };
  try {
    await serve(parts, stop.signal);
  } catch (error) {
    if (!isCancellation(error, stop.signal)) throw startFailure(error);
  } finally {
    endWithoutPeers(clock, exit);
  }
  log.info({}, "stopped");
}

/**
 * Everything is undone, and the process ends by itself. But a connection that was given up is open for as long as its peer does not
 * answer, which may be for ever: the end does not wait for that. The timer itself holds up nothing.
 */
function endWithoutPeers(clock: Clock, exit: UntilStoppedOptions["exit"]): void {
  clock.timeout(lingerMs).addEventListener("abort", () => exit());
}

const lingerMs = 1_000;
