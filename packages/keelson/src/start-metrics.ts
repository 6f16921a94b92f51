import type { Clock, Log, Random } from "@keelson/base";
import type { Config } from "./config.ts";
import type { Health } from "./health.ts";
import { buildMetricsServer } from "./metrics-server.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { listenFailure } from "./start-failure.ts";

export interface StartMetricsOptions {
  readonly config: Config;
  readonly health: Health;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
}

/** The listener of a process that has no REST beside it; without an address where none is wanted. */
export interface StartedMetrics extends AsyncDisposable {
  readonly url: string | undefined;
}

export async function startMetrics({
  config,
  ...shared
}: StartMetricsOptions): Promise<StartedMetrics> {
  const { metricsEnabled, metricsAddress: address, metricsPort: port } = config;
  await using undo = new AsyncDisposableStack();
  let url: string | undefined;
  if (metricsEnabled) {
    const limits = {
      readMs: config.readTimeout,
      writeMs: config.writeTimeout,
      idleMs: config.idleTimeout,
      drainMs: config.shutdownGrace / 2,
    };
    const logsRequests = config.logLevel === "debug";
    const options = { ...shared, logsRequests, components: {}, limits, address };
    const server = undo.use(await buildMetricsServer(options));
    try {
      url = await server.listen({ address, port });
    } catch (error) {
      throw listenFailure(error, { what: "metrics", flag: "--metrics-port", address, port });
    }
  }
  const kept = undo.move();
  return { url, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
