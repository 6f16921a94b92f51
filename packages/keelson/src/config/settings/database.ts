import { boolean, integer, port, positiveDuration, servicesUrl } from "../kinds.ts";
import { alias, optional, setting } from "../setting.ts";

/** PostgreSQL for the services. */
export const databaseSettings = {
  databaseUrl: optional(servicesUrl, "PostgreSQL to use instead of the embedded one", {
    aliases: [alias("DATABASE_URL")],
    secret: "password",
  }),
  databasePort: setting(port, "port of the embedded PostgreSQL, 0 for any free one", "0"),
  autoMigrate: setting(
    boolean,
    "bring the schema up to date at the start; else wait 30 s for another to have done it",
    "true",
  ),
  databaseMaxOpenConns: setting(
    integer({ min: 1, max: 10_000 }),
    "most connections of the pool",
    "25",
    {
      aliases: [alias("DATABASE_MAX_OPEN_CONNS")],
    },
  ),
  databaseConnMaxLifetime: setting(positiveDuration, "longest life of a connection", "5m", {
    aliases: [alias("DATABASE_CONN_MAX_LIFETIME")],
  }),
  databaseConnMaxIdleTime: setting(positiveDuration, "how long an idle connection is kept", "1m", {
    aliases: [alias("DATABASE_CONN_MAX_IDLE_TIME")],
  }),
};
