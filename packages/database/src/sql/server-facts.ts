import { statement } from "./statement.ts";

/** Which PostgreSQL answers, what time it is there, who we are to it, and whether we may make schemas. */
export const serverFacts = statement<
  undefined,
  {
    readonly version: string;
    readonly at: string;
    readonly user: string;
    readonly name: string;
    readonly mayCreate: boolean;
  }
>(
  "server facts",
  (sql) => sql`
    SELECT current_setting('server_version') AS version,
      (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS at,
      current_user AS user, current_database() AS name,
      has_database_privilege(current_database(), 'CREATE') AS "mayCreate"`,
);
