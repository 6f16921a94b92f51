// Desired state for objects in many clusters: kept in PostgreSQL, delivered by server-side apply, watched back.

export { fleetMigrations } from "./migrations.ts";
export { Resources, type ResourcesOptions } from "./resources/resources.ts";
export { SecretMarkers } from "./resources/secret-markers.ts";
export { fleetRoutes, type FleetRoutesOptions } from "./routes.ts";
export { WorkBell, workChannel } from "./work-bell.ts";
