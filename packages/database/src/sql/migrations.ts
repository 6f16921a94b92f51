import { statement } from "./statement.ts";

/** A migration takes as long as it takes. */
export const liftStatementTimeout = statement<undefined>("liftStatementTimeout", (sql) =>
  sql`SET LOCAL statement_timeout = 0`.simple(),
);

/** Waits until no other process migrates this database; held to the end of the transaction. */
export const lockMigrations = statement<undefined>(
  "lockMigrations",
  (sql) => sql`SELECT pg_advisory_xact_lock(hashtextextended('keelson migrations', 0))`,
);

export const createMigrationRecord = statement<undefined>("createMigrationRecord", (sql) =>
  sql`
    CREATE SCHEMA IF NOT EXISTS keelson;
    CREATE TABLE IF NOT EXISTS keelson.schema_migrations (
      schema text NOT NULL,
      component text NOT NULL,
      number integer NOT NULL,
      name text NOT NULL,
      sha256 text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (schema, component, number)
    )`.simple(),
);

export const hasMigrationRecord = statement<undefined, { found: boolean }>(
  "hasMigrationRecord",
  (sql) => sql`SELECT to_regclass('keelson.schema_migrations') IS NOT NULL AS found`,
);

export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/** Whose migrations they are. */
export interface Component {
  readonly schema: string;
  readonly component: string;
}

/** Of all components: a few rows each. */
export const appliedMigrations = statement<undefined, AppliedMigration & Component>(
  "appliedMigrations",
  (sql) => sql`
    SELECT schema, component, number, name, sha256 FROM keelson.schema_migrations
    ORDER BY schema, component, number`,
);

/** Plain names in the text mean the component's schema, which is made if it is not there. */
export const applyMigration = statement<{ readonly schema: string; readonly text: string }>(
  "applyMigration",
  (sql, { schema, text }) =>
    sql`
    CREATE SCHEMA IF NOT EXISTS ${sql(schema)};
    SET LOCAL search_path = ${sql(schema)}, public;
    ${sql.unsafe(text)}`.simple(),
);

export const recordMigration = statement<AppliedMigration & Component>(
  "recordMigration",
  (sql, { schema, component, number, name, sha256 }) => sql`
    INSERT INTO keelson.schema_migrations (schema, component, number, name, sha256)
    VALUES (${schema}, ${component}, ${number}, ${name}, ${sha256})`,
);
