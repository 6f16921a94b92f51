import type { DatabaseOptions } from "@keelson/database";
import {
  createServiceDatabase,
  type ServiceDatabase,
  type ThrowawayPostgres,
} from "@keelson/database/testing";
import { fleetMigrations } from "../migrations.ts";

/** A database with the tables of fleet, for the length of a test. */
export type FleetDatabase = ServiceDatabase;

export function createFleetDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<FleetDatabase> {
  const service = {
    name: "fleet",
    searchPath: ["fleet", "public"],
    migrations: [fleetMigrations],
    setsDatabase: true,
  };
  return createServiceDatabase(server, service, options);
}
