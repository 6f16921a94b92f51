import type { Counter, Gauge, Histogram, Metrics } from "@keelson/base";

/** What this package counts. */
export interface DatabaseMetrics {
  readonly statementSeconds: Histogram<"statement" | "result">;
  readonly poolConnections: Gauge<"pool" | "state">;
  readonly poolWaiting: Gauge<"pool">;
  readonly listenerUp: Gauge<"pool">;
  readonly wakeups: Counter<"pool" | "source">;
  readonly numbered: Counter<"log">;
  readonly outboxBacklog: Gauge<"outbox">;
  readonly outboxOldestAgeSeconds: Gauge<"outbox">;
  readonly outboxPublished: Counter<"outbox" | "result">;
  readonly outboxPublishSeconds: Histogram<"outbox">;
}

export function declareMetrics(metrics: Metrics): DatabaseMetrics {
  return {
    statementSeconds: metrics.histogram({
      name: "keelson_database_statement_seconds",
      help: "Time of each named statement, as its caller waited for it",
      labels: ["statement", "result"],
    }),
    poolConnections: metrics.gauge({
      name: "keelson_database_pool_connections",
      help: "Connections of the pool, busy and idle",
      labels: ["pool", "state"],
    }),
    poolWaiting: metrics.gauge({
      name: "keelson_database_pool_waiting",
      help: "Calls that wait for a connection",
      labels: ["pool"],
    }),
    listenerUp: metrics.gauge({
      name: "keelson_database_listener_up",
      help: "1 while wake-ups arrive from other processes, 0 while loops poll instead",
      labels: ["pool"],
    }),
    wakeups: metrics.counter({
      name: "keelson_database_wakeups_total",
      help: "Wake-ups by where they came from",
      labels: ["pool", "source"],
    }),
    numbered: metrics.counter({
      name: "keelson_database_numbered_total",
      help: "Rows given their position",
      labels: ["log"],
    }),
    outboxBacklog: metrics.gauge({
      name: "keelson_outbox_backlog",
      help: "Events committed and not yet published",
      labels: ["outbox"],
    }),
    outboxOldestAgeSeconds: metrics.gauge({
      name: "keelson_outbox_oldest_age_seconds",
      help: "Age of the oldest event that is not yet published",
      labels: ["outbox"],
    }),
    outboxPublished: metrics.counter({
      name: "keelson_outbox_publish_total",
      help: "Attempts to publish an event, by result",
      labels: ["outbox", "result"],
    }),
    outboxPublishSeconds: metrics.histogram({
      name: "keelson_outbox_publish_seconds",
      help: "Time that the transport took to accept one key's events",
      labels: ["outbox"],
    }),
  };
}
