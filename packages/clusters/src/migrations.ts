import { outboxMigrations, type MigrationSet } from "@keelson/database";

/** The tables of cluster lifecycle, after those that all services share. The outbox comes first: history follows it. */
export const clustersMigrations: readonly MigrationSet[] = [
  outboxMigrations("lifecycle"),
  {
    component: "clusters",
    schema: "lifecycle",
    folder: new URL("./sql/migrations/", import.meta.url),
  },
];
