// Brings a schema up to date, whoever else tries the same at the same time.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Database } from "./database.ts";
import { isTransient, PermissionDenied } from "./errors.ts";
import {
  appliedMigrations,
  applyMigration,
  createMigrationRecord,
  hasMigrationRecord,
  liftStatementTimeout,
  lockMigrations,
  recordMigration,
  type AppliedMigration,
  type Component,
} from "./sql/migrations.ts";

/** A numbered list of changes to a schema, owned by one component. */
export interface MigrationSet {
  /** Whose they are: several components may share a schema, each with numbers of its own. */
  readonly component: string;
  readonly schema: string;
  /** The folder with `0001-init.sql`, `0002-….sql`, without a gap. */
  readonly folder: URL;
}

/** The tables of leases and numbering, which all services share: these come first. */
export const sharedMigrations: MigrationSet = {
  component: "database",
  schema: "keelson",
  folder: new URL("./sql/migrations/keelson/", import.meta.url),
};

/** The tables of an outbox in the schema of the service that has one. */
export function outboxMigrations(schema: string): MigrationSet {
  return {
    component: "outbox",
    schema,
    folder: new URL("./sql/migrations/outbox/", import.meta.url),
  };
}

/** The schema was changed by a newer version of us, which this one does not know. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly code = "SCHEMA_TOO_NEW";
  readonly schema: string;
  readonly known: number;
  readonly found: number;

  constructor({ component, schema }: MigrationSet, known: number, found: number) {
    super(
      `schema ${schema} is at migration ${found} of ${component}, and this version knows only ${known}`,
    );
    this.schema = schema;
    this.known = known;
    this.found = found;
  }
}

/** A migration that was applied is not the one we have: somebody edited it after its release. */
export class MigrationChanged extends Error {
  override readonly name = "MigrationChanged";
  readonly code = "MIGRATION_CHANGED";
  readonly schema: string;
  readonly migration: string;

  constructor({ component, schema }: MigrationSet, migration: string) {
    super(`migration ${migration} of ${component} is not the one applied to schema ${schema}`);
    this.schema = schema;
    this.migration = migration;
  }
}

/** A migration failed; it is undone, and those before it stay applied. The `cause` says why. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
  readonly code = "MIGRATION_FAILED";
  readonly schema: string;
  readonly migration: string;

  constructor({ component, schema }: MigrationSet, migration: string, cause: unknown) {
    super(`migration ${migration} of ${component} failed on schema ${schema}`, { cause });
    this.schema = schema;
    this.migration = migration;
  }
}

/**
 * Applies what is missing of `sets`, in their order, each migration in one transaction under an advisory lock and
 * recorded with it. Any number of processes may call this at once: each migration is applied by one of them.
 * Gives the names it applied itself. Throws `PermissionDenied` where our user may not change the schema, and `MigrationFailed`
 * for what would not go better another time; what is transient stays what it is.
 */
export async function migrate(
  database: Database,
  sets: readonly MigrationSet[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const applied: string[] = [];
  const before = await readApplied(database, signal);
  for (const set of sets) {
    const known = await readMigrations(set);
    if (firstMissing(set, known, before) === undefined) continue;
    for (;;) {
      const name = await applyNext(database, set, known, signal);
      if (name === undefined) break;
      applied.push(`${set.schema}/${set.component}/${name}`);
    }
  }
  return applied;
}

/** Whether everything is applied. Throws `SchemaTooNew` and `MigrationChanged` like `migrate`; changes nothing. */
export async function isMigrated(
  database: Database,
  sets: readonly MigrationSet[],
  signal: AbortSignal,
): Promise<boolean> {
  const applied = await readApplied(database, signal);
  for (const set of sets) {
    if (firstMissing(set, await readMigrations(set), applied) !== undefined) return false;
  }
  return true;
}

interface Migration extends AppliedMigration {
  readonly text: string;
}

/** How long a migration may take, and how long others wait for it. */
const migrationMs = 600_000;

type Applied = readonly (AppliedMigration & Component)[];

async function readApplied(database: Database, signal: AbortSignal): Promise<Applied> {
  const [record] = await database.run(hasMigrationRecord, undefined, signal);
  return record?.found === true ? database.run(appliedMigrations, undefined, signal) : [];
}

async function applyNext(
  database: Database,
  set: MigrationSet,
  known: readonly Migration[],
  signal: AbortSignal,
): Promise<string | undefined> {
  return database.transaction(async (sql) => {
    await sql.run(liftStatementTimeout, undefined);
    await sql.run({ ...lockMigrations, deadlineMs: migrationMs }, undefined);
    await sql.run(createMigrationRecord, undefined);
    const next = firstMissing(set, known, await sql.run(appliedMigrations, undefined));
    if (next === undefined) return undefined;
    try {
      await sql.run({ ...applyMigration, deadlineMs: migrationMs }, { ...set, ...next });
    } catch (error) {
      // Nothing is wrong with the migration.
      if (error instanceof PermissionDenied || isTransient(error)) throw error;
      throw new MigrationFailed(set, next.name, error);
    }
    await sql.run(recordMigration, { ...set, ...next });
    return next.name;
  }, signal);
}

function firstMissing(
  set: MigrationSet,
  known: readonly Migration[],
  applied: Applied,
): Migration | undefined {
  const own = applied.filter(
    ({ schema, component }) => schema === set.schema && component === set.component,
  );
  for (const [index, { number, name, sha256 }] of own.entries()) {
    const ours = known[index];
    if (ours === undefined) throw new SchemaTooNew(set, known.length, own.at(-1)?.number ?? number);
    if (ours.number !== number || ours.sha256 !== sha256) throw new MigrationChanged(set, name);
  }
  return known[own.length];
}

/** A set is read once: readiness asks for it every few seconds, and its files are part of this version. */
async function readMigrations(set: MigrationSet): Promise<readonly Migration[]> {
  const known = alreadyRead.get(set);
  if (known !== undefined) return known;
  const read = await readFiles(set);
  alreadyRead.set(set, read);
  return read;
}

const alreadyRead = new WeakMap<MigrationSet, readonly Migration[]>();

async function readFiles({ component, folder }: MigrationSet): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (file, index) => {
      const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1] ?? 0);
      if (number !== index + 1) {
        throw new TypeError(`${file} is not migration ${index + 1} of ${component}`);
      }
      const text = await readFile(new URL(file, folder), "utf8");
      const sha256 = createHash("sha256").update(text).digest("hex");
      return { number, name: file.replace(/\.sql$/, ""), text, sha256 };
    }),
  );
}
