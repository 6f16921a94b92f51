import type { Counter, Histogram, Metrics } from "@keelson/base";

export interface WorkerMetrics {
  readonly applied: Counter<"cluster_id" | "result" | "class">;
  readonly staleWrites: Counter;
  readonly pollSeconds: Histogram;
  /** How long each step took on the way from a change to its cluster and back. */
  readonly convergence: Histogram<"hop">;
  readonly drifts: Counter;
  readonly watchRestarts: Counter<"reason">;
}

/** Series whose labels are known are there from the start. */
export function workerMetrics(metrics: Metrics): WorkerMetrics {
  const all = declare(metrics);
  for (const hop of ["claimed", "applied", "observed"]) all.convergence.with({ hop });
  for (const reason of watchRestartReasons) all.watchRestarts.with({ reason });
  return all;
}

/** Why a watch may have to begin again. */
export const watchRestartReasons = [
  "expired",
  "unauthorized",
  "forbidden",
  "connection",
  "silence",
  "other",
] as const;

function declare(metrics: Metrics): WorkerMetrics {
  return {
    applied: metrics.counter({
      name: "keelson_fleet_apply_total",
      help: "Attempts to apply a resource, by how they ended",
      labels: ["cluster_id", "result", "class"],
    }),
    staleWrites: metrics.counter({
      name: "keelson_fleet_stale_write_refused_total",
      help: "Records that were refused because the claim had passed to another, or was older than what is recorded",
    }),
    pollSeconds: metrics.histogram({
      name: "keelson_fleet_poll_seconds",
      help: "How long it took to ask which targets have work",
    }),
    convergence: metrics.histogram({
      name: "keelson_fleet_convergence_seconds",
      help: "From due to claimed, from claimed to the end of the attempt, and from applied to observed",
      labels: ["hop"],
    }),
    drifts: metrics.counter({
      name: "keelson_fleet_drift_total",
      help: "Objects that were found to differ from what was applied, or to be gone",
    }),
    watchRestarts: metrics.counter({
      name: "keelson_fleet_watch_restarts_total",
      help: "Watches of clusters that broke and began again, by the reason",
      labels: ["reason"],
    }),
  };
}
