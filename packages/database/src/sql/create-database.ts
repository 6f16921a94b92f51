import { statement } from "./statement.ts";

export const hasDatabase = statement<string>(
  "hasDatabase",
  (sql, name) => sql`SELECT FROM pg_database WHERE datname = ${name}`,
);

export const createDatabase = statement<string>("createDatabase", (sql, name) =>
  sql`CREATE DATABASE ${sql(name)}`.simple(),
);

/** Who has not been granted it may not enter the database any more. Its owner and superusers may. */
export const closeDatabase = statement<string>("closeDatabase", (sql, name) =>
  sql`REVOKE CONNECT, TEMPORARY ON DATABASE ${sql(name)} FROM PUBLIC`.simple(),
);
