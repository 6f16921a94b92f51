import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import type { Config } from "../config.ts";
import { migrateStore, openStore, requireStore } from "../open-store.ts";
import { startFailure } from "../start-failure.ts";
import type { Terminal } from "./terminal.ts";

/** `keelson apiserver migrate`: the schema of the store, and nothing else. */
export async function migrate(config: Config, terminal: Terminal): Promise<void> {
  try {
    await migrateStore({ config, databaseUrl: () => config.databaseUrl ?? "" });
  } catch (error) {
    throw startFailure(error);
  }
  terminal.write(
    config.storageDriver === "postgresql"
      ? "the schema is up to date\n"
      : "a SQLite store migrates when it is opened: nothing to do\n",
  );
}

/**
 * `keelson apiserver restore`: after the database was brought back to an earlier state, every revision that clients
 * may remember of the lost future expires, and they list again.
 */
export async function restore(config: Config, terminal: Terminal): Promise<void> {
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics: noMetrics };
  const { signal } = new AbortController();
  try {
    await requireStore(config);
    const databaseUrl = () => config.databaseUrl ?? "";
    const stored = { config, databaseUrl, migrates: false, patienceMs: 0 };
    await using store = await openStore({ ...shared, ...stored }, signal);
    const { head, floor } = await store.leap(signal);
    terminal.write(`revisions go on after ${head}; everything below ${floor} has expired\n`);
  } catch (error) {
    throw startFailure(error);
  }
}
