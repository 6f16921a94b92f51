import { statement } from "./statement.ts";

/** A migration takes as long as it takes. */
export const liftStatementTimeout = statement<undefined>("liftStatementTimeout", (sql) =>
  sql`SET LOCAL statement_timeout = 0`.simple(),
);

/** Waits until no other process migrates this schema; held to the end of the transaction. */
export const lockMigrations = statement<string>(
  "lockMigrations",
  (sql, schema) =>
    sql`SELECT pg_advisory_xact_lock(hashtextextended(${`keelson migrations of ${schema}`}, 0))`,
);

export const createMigrationRecord = statement<string>("createMigrationRecord", (sql, schema) =>
  sql`
    CREATE SCHEMA IF NOT EXISTS ${sql(schema)};
    CREATE TABLE IF NOT EXISTS ${sql(schema)}.schema_migrations (
      component text NOT NULL,
      number integer NOT NULL,
      name text NOT NULL,
      sha256 text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (component, number)
    )`.simple(),
);

export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

export const appliedMigrations = statement<
  { readonly schema: string; readonly component: string },
  AppliedMigration
>(
  "appliedMigrations",
  (sql, { schema, component }) => sql`
    SELECT number, name, sha256 FROM ${sql(schema)}.schema_migrations
    WHERE component = ${component} ORDER BY number`,
);

export const hasMigrationRecord = statement<string, { found: boolean }>(
  "hasMigrationRecord",
  (sql, schema) => sql`SELECT to_regclass(${`"${schema}".schema_migrations`}) IS NOT NULL AS found`,
);

export const applyMigration = statement<{ readonly schema: string; readonly text: string }>(
  "applyMigration",
  (sql, { schema, text }) =>
    sql`
    SET LOCAL search_path = ${sql(schema)}, public;
    ${sql.unsafe(text)}`.simple(),
);

export const recordMigration = statement<
  AppliedMigration & { readonly schema: string; readonly component: string }
>(
  "recordMigration",
  (sql, { schema, component, number, name, sha256 }) => sql`
    INSERT INTO ${sql(schema)}.schema_migrations (component, number, name, sha256)
    VALUES (${component}, ${number}, ${name}, ${sha256})`,
);
