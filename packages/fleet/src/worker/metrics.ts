import type { Counter, Metrics } from "@keelson/base";

export interface WorkerMetrics {
  readonly applied: Counter<"cluster_id" | "result" | "class">;
  readonly staleWrites: Counter;
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
  };
}
