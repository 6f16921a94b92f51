import type { DatabaseOptions } from "../database.ts";
import { outboxMigrations } from "../migrations.ts";
import { createServiceDatabase, type ServiceDatabase } from "./service-database.ts";
import type { ThrowawayPostgres } from "./throwaway-postgres.ts";

/** The tables of leases, numbering and an outbox in the schema `lifecycle`: what every service stands on. */
export function createServicesDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<ServiceDatabase> {
  const migrations = [outboxMigrations("lifecycle")];
  const searchPath = ["lifecycle", "public"];
  return createServiceDatabase(server, { name: "test", searchPath, migrations }, options);
}
