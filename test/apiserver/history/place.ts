// One server on a database of its own, and a look into that past the server.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { PostgresLook } from "../../simulation/processes/postgres-look.ts";
import { SqliteLook, type Look } from "../../simulation/world/look.ts";
import { compileStall, stallEnvironment } from "../faults/stalled-sync.ts";
import { startOurs, type Driver } from "../ours.ts";
import type { ScenarioServer } from "../scenarios/bed.ts";
import type { Target } from "../target.ts";
import type { HistoryObjects } from "./pod-templates.ts";

export interface PlaceOptions {
  readonly driver: Driver;
  /** Which share of the commits stalls, and for how long. */
  readonly stalls?: { readonly share: number; readonly ms: number };
}

export interface Place extends AsyncDisposable {
  /** Where clients reach it, and its process. */
  readonly server: Pick<ScenarioServer, "url" | "ca" | "admin" | "start" | "stop">;
  readonly look: Look;
  /** Who keeps the namespaces, if not the server; and what is written, if not PodTemplates. */
  readonly cluster?: Pick<Target, "client">;
  readonly objects?: HistoryObjects;
  /** Throws if the database is damaged. */
  assertWhole(): Promise<void>;
}

export type StartPlace = (options: PlaceOptions, signal: AbortSignal) => Promise<Place>;

/** Our server by itself. */
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
  const environment = stalls === undefined ? {} : undo.use(stallingDisk(stalls)).environment;
  const server = undo.use(await startOurs({ driver, environment }, signal));
  const disposal = undo.move();
  return {
    server,
    ...lookInto(server),
    [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
  };
}

/** What a process is started with so that some of its syncs take long. */
export function stallingDisk(
  stalls: NonNullable<PlaceOptions["stalls"]>,
): Disposable & { readonly environment: Readonly<Record<string, string>> } {
  const folder = mkdtempSync(join(tmpdir(), "keelson-stall-"));
  return {
    environment: stallEnvironment(compileStall(folder), stalls),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A look into the file of a server. */
export function lookInto({
  dataDir,
}: {
  readonly dataDir: string;
}): Pick<Place, "look" | "assertWhole"> {
  const path = join(dataDir, "apiserver.db");
  return {
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
  };
}
