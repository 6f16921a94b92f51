import { statement } from "./statement.ts";

export const hasDatabase = statement<string>(
  "hasDatabase",
  (sql, name) => sql`SELECT FROM pg_database WHERE datname = ${name}`,
);

export const createDatabase = statement<string>("createDatabase", (sql, name) =>
  sql`CREATE DATABASE ${sql(name)}`.simple(),
);
