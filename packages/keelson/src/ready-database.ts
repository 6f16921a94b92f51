// The services' database: reached, and at the schema of this version.

import type { Clock, Log, Random } from "@keelson/base";
import {
  isMigrated,
  isTransient,
  migrate,
  type Database,
  type MigrationSet,
} from "@keelson/database";
import { whileAway } from "./while-away.ts";

export interface ReadyDatabaseOptions {
  readonly database: Database;
  readonly migrations: readonly MigrationSet[];
  readonly autoMigrate: boolean;
  /** How long a database that is not there yet is waited for. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Nobody has brought the schema up to date, and it was not for us to do. */
export class SchemaBehind extends Error {
  override readonly name = "SchemaBehind";
  readonly code = "SCHEMA_BEHIND";
}

/**
 * Waits for the database and brings its schema up to date, or waits for somebody else to whom that is left. Throws
 * `SchemaBehind` or what is transient when patience ends, and what else `migrate` throws at once.
 */
export async function readyDatabase(
  options: ReadyDatabaseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { database, migrations, autoMigrate, log } = options;
  const isAway = (error: unknown): error is Error =>
    isTransient(error) || error instanceof SchemaBehind;
  const bringUpToDate = async (): Promise<void> => {
    if (!autoMigrate) {
      if (await isMigrated(database, migrations, signal)) return;
      throw new SchemaBehind("its schema is behind, and migrating is left to somebody else");
    }
    const applied = await migrate(database, migrations, signal);
    if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
  };
  await whileAway({ ...options, isAway }, bringUpToDate, signal);
}
