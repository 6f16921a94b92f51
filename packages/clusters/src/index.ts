// Cluster lifecycle: a user declares clusters and nodepools, every change is one event, controllers report, and the
// reports add up to a status.

export { eventSource, topics, type EventData, type Topic } from "./events/event.ts";
export { clustersMigrations } from "./migrations.ts";
