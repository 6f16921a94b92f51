// One server of ours behind a host, and a look into its database past both.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Json } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { lookInto, stallingDisk, type StartPlace } from "../../apiserver/history/place.ts";
import { PostgresLook } from "../../simulation/processes/postgres-look.ts";
import { startBed } from "../bed.ts";
import { DatabaseFacts } from "../database-facts.ts";
import { memories, type Deletions } from "../history-memories.ts";

/** Clients reach it at the host's address. */
export const startBehind: StartPlace = async ({ driver, stalls }, signal) => {
  await using undo = new AsyncDisposableStack();
  const postgres =
    driver === "postgresql"
      ? undo.use(await startThrowawayPostgres({ flavour: "embedded" }, signal))
      : undefined;
  const database = postgres === undefined ? undefined : undo.use(await postgres.createDatabase());
  const isSlow = driver === "sqlite" && stalls !== undefined;
  const environment = isSlow ? undo.use(stallingDisk(stalls)).environment : {};
  const options = { driver, environment, databaseUrl: database?.url };
  const bed = undo.use(await startBed(options, signal));
  const { oracle, replica } = bed;
  const server = {
    url: oracle.url,
    ca: oracle.ca,
    admin: oracle.admin,
    stop: async (how: NodeJS.Signals) => await replica.stop(how),
    start: async (signal: AbortSignal) => {
      await replica.start(signal);
      await bed.untilAvailability("True", signal);
    },
  };
  if (database === undefined) {
    const parts = lookInto(replica);
    const objects = memories(deletionsIn(join(replica.dataDir, "apiserver.db")));
    const disposal = undo.move();
    const end = async (): Promise<void> => await disposal.disposeAsync();
    return { server, ...parts, objects, cluster: oracle, [Symbol.asyncDispose]: end };
  }
  const look = undo.use(new PostgresLook(database.url));
  const facts = undo.use(new DatabaseFacts(database.url));
  if (stalls !== undefined) await look.stallCommits(stalls.share, stalls.ms);
  const objects = memories((uid) => facts.deletion(uid));
  const disposal = undo.move();
  return {
    server,
    look,
    objects,
    cluster: oracle,
    assertWhole: async () => undefined, // It checks its pages itself, and would not start.
    [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
  };
};

function deletionsIn(path: string): Deletions {
  return async (uid) => {
    using database = new DatabaseSync(path, { readOnly: true });
    const row = database
      .prepare("SELECT revision, object FROM changes WHERE uid = ? AND type = 'DELETED'")
      .get(uid);
    if (row === undefined) throw new Error(`the log knows of no deletion of ${uid}`);
    const { revision, object } = row as { revision: number; object: string };
    return { object: JSON.parse(object) as Json, revision };
  };
}
