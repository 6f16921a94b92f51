// The composition root of `keelson serve --roles operator`: the operator, and the listener of its metrics. It keeps
// nothing on disk and needs no database of ours: what it knows is in its cluster.

import { TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import type { Config } from "./config.ts";
import { Health } from "./health.ts";
import { buildMetricsServer } from "./metrics-server.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import type { Addresses } from "./run-file.ts";
import { listenFailure } from "./start-failure.ts";
import { startOperator } from "./start-operator.ts";

export interface ServeOperatorOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  /** Called once it answers. */
  readonly onReady: (addresses: Addresses) => void;
}

/** Runs until `signal` aborts or a part fails, and undoes everything. */
export async function serveOperator(
  options: ServeOperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { config, clock, random, log, metrics } = options;
  const shared = { clock, random, log, metrics };
  const operator = await startOperator({ ...shared, config, own: undefined }, signal);
  const health = new Health({ checks: [operator.check], clock, metrics });
  const { metricsAddress: address, metricsPort: port } = config;
  await using metricsServer = config.metricsEnabled
    ? await buildMetricsServer({
        ...shared,
        logsRequests: config.logLevel === "debug",
        health,
        components: {},
        limits: {
          readMs: config.readTimeout,
          writeMs: config.writeTimeout,
          idleMs: config.idleTimeout,
          drainMs: config.shutdownGrace / 2,
        },
        address,
      })
    : undefined;
  await using scope = new TaskScope(signal);
  let metricsUrl: string | undefined;
  try {
    metricsUrl = await metricsServer?.listen({ address, port });
  } catch (error) {
    throw listenFailure(error, { what: "metrics", flag: "--metrics-port", address, port });
  }
  scope.spawn("operator", (within) => operator.run(within));
  scope.spawn("health", (within) => health.keepAsking(within));
  options.onReady(metricsUrl === undefined ? {} : { metrics: metricsUrl });
  signal.addEventListener("abort", () => health.stop(), { once: true });
  await scope.join();
}
