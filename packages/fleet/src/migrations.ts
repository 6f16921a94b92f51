import type { MigrationSet } from "@keelson/database";

/** The tables of fleet, after those that all services share. */
export const fleetMigrations: MigrationSet = {
  component: "fleet",
  schema: "fleet",
  folder: new URL("./sql/migrations/", import.meta.url),
};
