import type { Counter, Histogram, Metrics } from "@keelson/base";
import { scheduleReasons } from "../events/event.ts";
import { kinds } from "../kinds.ts";

/** What the loops of cluster lifecycle count. */
export interface SchedulerMetrics {
  readonly ticks: Counter<"result">;
  readonly tickSeconds: Histogram;
  readonly announced: Counter<"kind" | "reason">;
  readonly lateSeconds: Histogram;
  readonly purged: Counter<"what">;
}

/** Every series is there from the start, at zero. */
export function schedulerMetrics(metrics: Metrics): SchedulerMetrics {
  const declared: SchedulerMetrics = {
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
  for (const result of ["done", "failed"]) declared.ticks.with({ result });
  for (const { name: kind } of Object.values(kinds)) {
    for (const reason of scheduleReasons) declared.announced.with({ kind, reason });
  }
  for (const what of ["events", "audit", "tombstones"]) declared.purged.with({ what });
  return declared;
}
