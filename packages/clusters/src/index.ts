// Cluster lifecycle: a user declares clusters and nodepools, every change is one event, controllers report, and the
// reports add up to a status.

export {
  buildClusterLifecycle,
  type ClusterLifecycle,
  type ClusterLifecycleOptions,
} from "./cluster-lifecycle.ts";
export { eventSource, topics, type EventData, type Topic } from "./events/event.ts";
export { kinds, type Kind, type KindName } from "./kinds.ts";
export { passOnce, runStatusPass, type StatusPassOptions } from "./loops/status-pass.ts";
export { clustersMigrations } from "./migrations.ts";
export { clustersRoutes } from "./routes/routes.ts";
