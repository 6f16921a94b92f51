// What cluster lifecycle measures.

import type { Counter, Gauge, Metrics } from "@keelson/base";

export interface ClustersMetrics {
  readonly reports: Counter<"kind" | "result">;
  readonly cacheReads: Counter<"result">;
  readonly resources: Gauge<"kind" | "phase">;
  readonly denials: Counter<"result">;
}

export function clustersMetrics(metrics: Metrics): ClustersMetrics {
  return {
    reports: metrics.counter({
      name: "keelson_clusters_reports_total",
      help: "Reports of controllers, by what became of them: created, changed, same, stale, future",
      labels: ["kind", "result"],
    }),
    cacheReads: metrics.counter({
      name: "keelson_clusters_status_reads_total",
      help: "Statuses that were read, from the cache (hit) or calculated because it was stale",
      labels: ["result"],
    }),
    resources: metrics.gauge({
      name: "keelson_clusters_resources",
      help: "Live clusters and nodepools by phase",
      labels: ["kind", "phase"],
    }),
    denials: metrics.counter({
      name: "keelson_clusters_denials_total",
      help: "Requests that were denied, recorded in the audit or dropped because too many came at once",
      labels: ["result"],
    }),
  };
}
