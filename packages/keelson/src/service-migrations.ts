import { clustersMigrations } from "@keelson/clusters";
import { sharedMigrations, type MigrationSet } from "@keelson/database";
import { fleetMigrations } from "@keelson/fleet";

/** The schemas that must be there before anything is served. Services add theirs. */
export const serviceMigrations: readonly MigrationSet[] = [
  sharedMigrations,
  ...clustersMigrations,
  fleetMigrations,
];
