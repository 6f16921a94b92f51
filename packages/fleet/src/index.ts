// Desired state for objects in many clusters: kept in PostgreSQL, delivered by server-side apply, watched back.

export { fleetEventMeanings } from "./events/event-types.ts";
export { EventLog, type EventLogOptions, type FleetEvent } from "./events/event-log.ts";
export { type EventLimits, type TopicEvents } from "./events/routes.ts";
export { GlobalDryRuns } from "./globals/global-dry-runs.ts";
export { Globals, type GlobalsOptions } from "./globals/globals.ts";
export { fleetMigrations } from "./migrations.ts";
export { type ResourceStatus } from "./resources/list-query.ts";
export { DryRuns, type DryRunsOptions } from "./resources/dry-runs.ts";
export { Resources, type ResourcesOptions } from "./resources/resources.ts";
export { SecretMarkers } from "./resources/secret-markers.ts";
export { fleetRoutes, type FleetRoutesOptions } from "./routes.ts";
export { CredentialCipher, CredentialUnreadable } from "./targets/credential-cipher.ts";
export { openAccess, sealAccess, type StoredAccess } from "./targets/stored-access.ts";
export {
  TargetClients,
  type ClientPort,
  type TargetClientsOptions,
} from "./targets/target-clients.ts";
export { TargetDryRuns } from "./targets/target-dry-runs.ts";
export { Targets, type Registration, type TargetsOptions } from "./targets/targets.ts";
export { WorkBell, workChannel } from "./work-bell.ts";
export { FleetWorker, type FleetWorkerOptions, type WorkerLimits } from "./worker/fleet-worker.ts";
export {
  audit,
  keepHouse,
  type HousekeepingLimits,
  type HousekeepingOptions,
} from "./worker/housekeeping.ts";
export { FleetGauges, type FleetGaugesOptions } from "./worker/gauges.ts";
export { workerMetrics, type WorkerMetrics } from "./worker/metrics.ts";
