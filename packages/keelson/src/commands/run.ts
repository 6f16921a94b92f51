// What `up` and `serve` share: log, signals, the composition root, and the end of it.

import { isCancellation, systemClock, systemRandom } from "@keelson/base";
import type { Config } from "../config.ts";
import { keepCompiled } from "../keep-compiled.ts";
import { newLog } from "../logging.ts";
import { PrometheusMetrics } from "../prometheus.ts";
import type { Addresses } from "../run-file.ts";
import { serve, type Part } from "../serve.ts";
import { serveOperator } from "../serve-operator.ts";
import { stopSignals } from "../stop-signals.ts";
import { startFailure } from "../start-failure.ts";
import { exitFailure, exitInterrupted } from "../start-error.ts";
import { keelsonVersion } from "../version.ts";

export interface RunOptions {
  readonly config: Config;
  readonly parts: ReadonlySet<Part>;
  /** For people, on standard output: progress, then what is running. */
  readonly show: {
    readonly progress: (step: string) => void;
    readonly ready: (addresses: Addresses, version: string) => void;
    readonly stopping: () => void;
  };
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
}

/** Runs until it is told to stop; resolves after an orderly end. Throws a `StartError` for what a user can act on. */
export async function run({ config, parts, show, exit }: RunOptions): Promise<void> {
  const clock = systemClock;
  const version = keelsonVersion();
  const log = newLog({ level: config.logLevel, format: config.logFormat });
  warnOf(config, (message) => log.warn({}, message));

  using stop = stopSignals({
    clock,
    graceMs: config.shutdownGrace,
    onStop: (signal) => {
      log.info({ signal }, "stopping");
      show.stopping();
    },
    quit: (why) => {
      log.warn({ why }, "quitting without an orderly stop");
      exit(why === "interrupted" ? exitInterrupted : exitFailure);
    },
  });
  try {
    const shared = {
      config,
      clock,
      random: systemRandom,
      log,
      metrics: new PrometheusMetrics({ withProcess: true }),
      onReady: (addresses: Addresses) => {
        const { database: _withPassword, ...shown } = addresses;
        log.info({ version, ...shown }, "ready");
        show.ready(addresses, version);
        keepCompiled();
      },
    };
    const isOperatorAlone = [...parts].every((part) => part === "operator");
    if (isOperatorAlone) await serveOperator(shared, stop.signal);
    else await serve({ ...shared, parts, version, onProgress: show.progress }, stop.signal);
  } catch (error) {
    if (!isCancellation(error, stop.signal)) throw startFailure(error);
  }
  log.info({}, "stopped");
}

function warnOf({ authMode, corsOrigins }: Config, warn: (message: string) => void): void {
  if (authMode === "none" && corsOrigins !== undefined) {
    warn(
      "pages of other origins may drive this server: origins are allowed and callers are not authenticated",
    );
  }
}
