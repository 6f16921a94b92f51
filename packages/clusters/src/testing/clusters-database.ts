import type { DatabaseOptions } from "@keelson/database";
import {
  createServiceDatabase,
  type ServiceDatabase,
  type ThrowawayPostgres,
} from "@keelson/database/testing";
import { clustersMigrations } from "../migrations.ts";

/** A database with the tables of cluster lifecycle, for the length of a test. */
export type ClustersDatabase = ServiceDatabase;

export function createClustersDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<ClustersDatabase> {
  const searchPath = ["lifecycle", "public"];
  const service = { name: "clusters", searchPath, migrations: clustersMigrations };
  return createServiceDatabase(server, service, options);
}
