// Cluster lifecycle: a user declares clusters and nodepools, every change is one event, controllers report, and the
// reports add up to a status.

export {
  buildClusterLifecycle,
  type ClusterLifecycle,
  type ClusterLifecycleOptions,
} from "./cluster-lifecycle.ts";
export { DatabaseTime } from "./database-time.ts";
export { eventMeanings, reasonMeanings } from "./events/event-meanings.ts";
export { eventSource, topics, type EventData, type Topic } from "./events/event.ts";
export { kinds, type Kind, type KindName } from "./kinds.ts";
export { LifecycleEvents, type LifecycleEventsOptions } from "./events/lifecycle-events.ts";
export {
  localTransport,
  type LifecycleTransport,
  type TransportHealth,
} from "./events/lifecycle-transport.ts";
export { PubsubTransport, type PubsubTransportOptions } from "./events/pubsub-transport.ts";
export {
  runDeferredWakes,
  sendAll as sendDeferredWakes,
  type DeferredWakesOptions,
} from "./loops/deferred-wakes.ts";
export { schedulerMetrics, type SchedulerMetrics } from "./loops/metrics.ts";
export { purge, runPurges, type PurgesOptions, type Retentions } from "./loops/purges.ts";
export { Scheduler, type SchedulerOptions } from "./loops/scheduler.ts";
export { runStatusBell } from "./loops/status-bell.ts";
export { passOnce, runStatusPass, type StatusPassOptions } from "./loops/status-pass.ts";
export { clustersMigrations } from "./migrations.ts";
export { clustersRoutes, type ClustersRoutesOptions } from "./routes/routes.ts";
export { type Cadence } from "./sql/schedules.ts";
export { type NamedPhase } from "./status/status.ts";
