// The composition root of `keelson serve --roles operator`: the operator, and the listener of its metrics. It keeps
// nothing on disk and needs no database of ours: what it knows is in its cluster.

import { TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import type { Config } from "./config.ts";
import { Health } from "./health.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import type { Addresses } from "./run-file.ts";
import { startMetrics } from "./start-metrics.ts";
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
  const health = new Health({ checks: [operator.check], clock, log, metrics });
  await using listener = await startMetrics({ ...shared, config, health });
  await using scope = new TaskScope(signal);
  scope.spawn("operator", (within) => operator.run(within));
  scope.spawn("health", (within) => health.keepAsking(within));
  options.onReady(listener.url === undefined ? {} : { metrics: listener.url });
  signal.addEventListener("abort", () => health.stop(), { once: true });
  await scope.join();
}
