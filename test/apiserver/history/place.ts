// One server on a database of its own, and a look into that past the server.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { PostgresLook } from "../../simulation/processes/postgres-look.ts";
import { SqliteLook, type Look } from "../../simulation/world/look.ts";
import { compileStall, stallEnvironment } from "../faults/stalled-sync.ts";
import { startOurs, type Driver, type Ours } from "../ours.ts";

export interface PlaceOptions {
  readonly driver: Driver;
  /** Which share of the commits stalls, and for how long. */
  readonly stalls?: { readonly share: number; readonly ms: number };
}

export interface Place extends AsyncDisposable {
  readonly server: Ours;
  readonly look: Look;
  /** Throws if the database is damaged. */
  assertWhole(): Promise<void>;
}

export async function startPlace(
  { driver, stalls }: PlaceOptions,
  signal: AbortSignal,
): Promise<Place> {
  await using undo = new AsyncDisposableStack();
  if (driver === "postgresql") {
    const postgres = undo.use(
      await startThrowawayPostgres({ flavour: "embedded", fsync: true }, signal),
    );
    const database = undo.use(await postgres.createDatabase());
    const server = undo.use(await startOurs({ driver, databaseUrl: database.url }, signal));
    const look = undo.use(new PostgresLook(database.url));
    if (stalls !== undefined) await look.stallCommits(stalls.share, stalls.ms);
    const disposal = undo.move();
    return {
      server,
      look,
      assertWhole: async () => undefined, // It checks its pages itself, and would not start.
      [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
    };
  }
  let environment: Record<string, string> = {};
  if (stalls !== undefined) {
    const folder = mkdtempSync(join(tmpdir(), "keelson-stall-"));
    undo.defer(() => rmSync(folder, { recursive: true, force: true }));
    environment = stallEnvironment(compileStall(folder), stalls);
  }
  const server = undo.use(await startOurs({ driver, environment }, signal));
  const path = join(server.dataDir, "apiserver.db");
  const disposal = undo.move();
  return {
    server,
    look: {
      sight: async () => {
        using sight = new SqliteLook(path);
        return await sight.sight();
      },
      tables: async () => {
        using sight = new SqliteLook(path);
        return await sight.tables();
      },
    },
    assertWhole: async () => {
      using sight = new SqliteLook(path);
      const state = sight.integrity();
      if (state !== "ok") throw new Error(`the file is ${state}`);
    },
    [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
  };
}
