// Every metric of the store. A gauge that does not apply to a backend is absent.

import type { Metrics } from "@keelson/base";

export type StoreMetrics = ReturnType<typeof storeMetrics>;

export function storeMetrics(metrics: Metrics) {
  return {
    operations: metrics.counter({
      name: "keelson_store_operations_total",
      help: "Operations of the store, by what became of them",
      labels: ["operation", "kind", "outcome"],
    }),
    operationSeconds: metrics.histogram({
      name: "keelson_store_operation_seconds",
      help: "How long operations of the store took, waiting for their batch included",
      labels: ["operation", "kind", "outcome"],
      buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    }),
    batchSize: metrics.histogram({
      name: "keelson_store_batch_size",
      help: "Writes that shared one transaction",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    }),
    commitSeconds: metrics.histogram({
      name: "keelson_store_commit_seconds",
      help: "How long a transaction of writes took until it was durable",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10],
    }),
    headRevision: metrics.gauge({
      name: "keelson_store_head_revision",
      help: "The newest revision this process has published to its watchers",
    }),
    floorRevision: metrics.gauge({
      name: "keelson_store_floor_revision",
      help: "The revision at which the log begins",
    }),
    logRows: metrics.gauge({
      name: "keelson_store_log_rows",
      help: "Entries the log holds, about",
    }),
    sizeBytes: metrics.gauge({
      name: "keelson_store_size_bytes",
      help: "Space the store takes in its database",
    }),
    databaseUp: metrics.gauge({
      name: "keelson_store_database_up",
      help: "Whether the database answered when last asked",
    }),
    corrupt: metrics.counter({
      name: "keelson_store_corrupt_total",
      help: "Reads that met a row which cannot be decoded",
    }),
    poolOpen: metrics.gauge({
      name: "keelson_store_pool_open",
      help: "Connections to the database that are open",
    }),
    poolInUse: metrics.gauge({
      name: "keelson_store_pool_in_use",
      help: "Connections to the database that are running a statement",
    }),
    poolWaiting: metrics.gauge({
      name: "keelson_store_pool_waiting",
      help: "Statements that wait for a connection",
    }),
    watchesActive: metrics.gauge({
      name: "keelson_watch_active",
      help: "Watches that are open",
    }),
    watchesBehind: metrics.gauge({
      name: "keelson_watch_behind",
      help: "Open watches that read the log because they are not level with the live feed",
    }),
    // Once a batch, not once a watcher: a thousand watchers of a thousand writes would be a million observations.
    deliverySeconds: metrics.histogram({
      name: "keelson_watch_delivery_seconds",
      help: "From a commit, or hearing of another process's, until the last watcher that is level, loops of the server among them, has passed its changes on: to a client, until its socket took them. Once a batch; a watcher that is behind counts by itself, once for what it reads at a time",
      buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    }),
    watchesExpired: metrics.counter({
      name: "keelson_watch_expired_total",
      help: "Watches that compaction overtook",
      labels: ["kind"],
    }),
    notifyConnected: metrics.gauge({
      name: "keelson_notify_connected",
      help: "Whether the connection that listens for wake-ups is up",
    }),
    notifyReceived: metrics.counter({
      name: "keelson_notify_received_total",
      help: "Wake-ups received from the database",
    }),
    notifyReconnects: metrics.counter({
      name: "keelson_notify_reconnects_total",
      help: "Times the listening connection was made anew",
    }),
    notifyDegraded: metrics.gauge({
      name: "keelson_notify_degraded",
      help: "1 while wake-ups do not arrive and the head is polled instead",
    }),
  } as const;
}
