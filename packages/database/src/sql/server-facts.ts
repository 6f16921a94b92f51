import { statement } from "./statement.ts";

/** Which PostgreSQL answers, and what time it is there. */
export const serverFacts = statement<undefined, { readonly version: string; readonly at: string }>(
  "server facts",
  (sql) =>
    sql`SELECT current_setting('server_version') AS version, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS at`,
);
