import type { Counter, Histogram, Metrics } from "@keelson/base";

/** What the loops of cluster lifecycle count. */
export interface SchedulerMetrics {
  readonly ticks: Counter<"result">;
  readonly tickSeconds: Histogram;
  readonly announced: Counter<"kind" | "reason">;
  readonly lateSeconds: Histogram;
  readonly purged: Counter<"what">;
}

export function schedulerMetrics(metrics: Metrics): SchedulerMetrics {
  return {
    ticks: metrics.counter({
      name: "keelson_scheduler_ticks_total",
      help: "Ticks of the scheduler, by result",
      labels: ["result"],
    }),
    tickSeconds: metrics.histogram({
      name: "keelson_scheduler_tick_seconds",
      help: "Time of a tick of the scheduler",
    }),
    announced: metrics.counter({
      name: "keelson_scheduler_announcements_total",
      help: "Announcements of the scheduler, by reason",
      labels: ["kind", "reason"],
    }),
    lateSeconds: metrics.histogram({
      name: "keelson_scheduler_due_lag_seconds",
      help: "How long announcements were due before they were made",
      buckets: [0.1, 0.5, 1, 5, 15, 30, 60, 300, 900],
    }),
    purged: metrics.counter({
      name: "keelson_clusters_purged_total",
      help: "Rows removed because their time was up: events, audit, tombstones",
      labels: ["what"],
    }),
  };
}
