// The services' database: reached, and at the schema of this version.

import { Backoff, type Clock, type Log, type Random } from "@keelson/base";
import {
  DatabaseUnavailable,
  isMigrated,
  migrate,
  type Database,
  type MigrationSet,
} from "@keelson/database";

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

/**
 * Waits for the database and brings its schema up to date, unless that is left to somebody else. Throws
 * `DatabaseUnavailable` when patience ends, and what `migrate` throws.
 */
export async function readyDatabase(
  options: ReadyDatabaseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { database, migrations, autoMigrate, patienceMs, clock, random, log } = options;
  const deadlineMs = clock.monotonic() + patienceMs;
  const backoff = new Backoff({ initialMs: 100, maxMs: 2_000, random });
  for (;;) {
    try {
      if (!autoMigrate) {
        if (!(await isMigrated(database, migrations, signal))) {
          log.warn({}, "database schema is behind, and migrating is left to somebody else");
        }
        return;
      }
      const applied = await migrate(database, migrations, signal);
      if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
      return;
    } catch (error) {
      const waitMs = backoff.next();
      const isHopeless = clock.monotonic() + waitMs > deadlineMs;
      if (!(error instanceof DatabaseUnavailable) || isHopeless) throw error;
      log.warn({ reason: error.message }, "waiting for the database");
      await clock.sleep(waitMs, signal);
    }
  }
}
