import { isCancellation, systemClock, systemRandom } from "@keelson/base";
import type { Config } from "../config.ts";
import { keepCompiled } from "../keep-compiled.ts";
import { newLog } from "../logging.ts";
import { PrometheusMetrics } from "../prometheus.ts";
import { serveApiserver } from "../serve-apiserver.ts";
import { exitFailure, exitInterrupted } from "../start-error.ts";
import { startFailure } from "../start-failure.ts";
import { stopSignals } from "../stop-signals.ts";
import { keelsonVersion } from "../version.ts";

/** `keelson apiserver`: the Kubernetes API and its store, and nothing else. Its story is in the log. */
export async function apiserver(config: Config, exit: (code: number) => void): Promise<void> {
  const clock = systemClock;
  const log = newLog({ level: config.logLevel, format: config.logFormat });
  using stop = stopSignals({
    clock,
    graceMs: config.shutdownGrace,
    onStop: (signal) => log.info({ signal }, "stopping"),
    quit: (why) => {
      log.warn({ why }, "quitting without an orderly stop");
      exit(why === "interrupted" ? exitInterrupted : exitFailure);
    },
  });
  const metrics = new PrometheusMetrics({ withProcess: true });
  const version = keelsonVersion();
  try {
    await serveApiserver(
      {
        config,
        version,
        clock,
        random: systemRandom,
        log,
        metrics,
        onReady: (addresses) => {
          const { database: _withPassword, ...shown } = addresses;
          log.info({ version, ...shown }, "ready");
          keepCompiled();
        },
      },
      stop.signal,
    );
  } catch (error) {
    if (!isCancellation(error, stop.signal)) throw startFailure(error);
  }
  log.info({}, "stopped");
}
