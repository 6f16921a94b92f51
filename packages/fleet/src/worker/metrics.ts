import type { Counter, Histogram, Metrics } from "@keelson/base";

export interface WorkerMetrics {
  readonly applied: Counter<"cluster_id" | "result" | "class">;
  readonly staleWrites: Counter;
  readonly pollSeconds: Histogram;
  readonly drifts: Counter;
  readonly watchRestarts: Counter<"reason">;
}

export function workerMetrics(metrics: Metrics): WorkerMetrics {
  return {
    applied: metrics.counter({
      name: "keelson_fleet_apply_total",
      help: "Attempts to apply a resource, by how they ended.",
      labels: ["cluster_id", "result", "class"],
    }),
    staleWrites: metrics.counter({
      name: "keelson_fleet_stale_write_refused_total",
      help: "Records that were refused because the claim had passed to another, or was older than what is recorded.",
    }),
    pollSeconds: metrics.histogram({
      name: "keelson_fleet_poll_seconds",
      help: "How long it took to ask which targets have work.",
    }),
    drifts: metrics.counter({
      name: "keelson_fleet_drift_total",
      help: "Objects that were found to differ from what was applied, or to be gone.",
    }),
    watchRestarts: metrics.counter({
      name: "keelson_fleet_watch_restarts_total",
      help: "Watches of clusters that broke and began again, by the reason.",
      labels: ["reason"],
    }),
  };
}
