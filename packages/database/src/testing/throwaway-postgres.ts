// A real PostgreSQL for the length of a test. Nothing of it stays, however the test ends.

import { randomBytes, randomInt } from "node:crypto";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { accountFor } from "../server/account.ts";
import { embeddedBinaries, systemBinaries } from "../server/binaries.ts";
import { PostgresServerError } from "../server/errors.ts";
import { initialise } from "../server/initdb.ts";
import { PostgresProcess } from "../server/postgres-process.ts";
import { Watchdog, type StopMode } from "../server/watchdog.ts";

/** `embedded` is the one we ship, `system` the one installed on this machine. */
export type PostgresFlavour = "embedded" | "system";

export interface ThrowawayOptions {
  readonly flavour: PostgresFlavour;
  /** Settings of `postgresql.conf`, over our own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Off is faster and as good, unless the test pulls the plug of the machine. On by default. */
  readonly fsync?: boolean;
  /** Called with each line the server logs. */
  readonly onLine?: (line: string) => void;
}

/** A database of its own on a throwaway server; disposing drops it, whoever is connected. */
export interface ThrowawayDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
}

/** A running server; disposing ends it and removes its folder. The URL outlives restarts. */
export interface ThrowawayPostgres extends AsyncDisposable {
  readonly flavour: PostgresFlavour;
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** The folder of the programs that run it. */
  readonly bin: string;
  /** A database of its own, empty or as the database `template` is, to which nobody must be connected. */
  createDatabase(options?: { readonly template?: string }): Promise<ThrowawayDatabase>;
  /** Ends the server and waits until it is gone. */
  stop(options: { readonly mode: StopMode }): Promise<void>;
  /** Starts it again on the same port and resolves when it accepts connections. */
  start(): Promise<void>;
  restart(options: { readonly mode: StopMode }): Promise<void>;
}

/** Whether this machine has a PostgreSQL of its own. A test that needs one and finds none skips by name. */
export async function systemPostgresFound(): Promise<boolean> {
  return (await systemBinaries()) !== undefined;
}

/**
 * Starts a PostgreSQL on a free port of 127.0.0.1, with a fresh folder, in about a second.
 * Any number run side by side. When this process dies, in whatever way, the server and its folder go too.
 */
export async function startThrowawayPostgres(
  { flavour, settings = {}, fsync = true, onLine = () => {} }: ThrowawayOptions,
  signal?: AbortSignal,
): Promise<ThrowawayPostgres> {
  signal?.throwIfAborted();
  const home = await mkdtemp(join(tmpdir(), "keelson-postgres-"));
  const watchdog = new Watchdog({ mode: "immediate", removes: home });
  let server: PostgresProcess | undefined;
  try {
    const account = await accountFor(home);
    if (account !== undefined) await chown(home, account.uid, account.gid);
    await chmod(home, 0o700);
    const bin = flavour === "embedded" ? await embeddedBinaries(account) : await systemBinaries();
    if (bin === undefined) {
      throw new PostgresServerError(
        "binaries-missing",
        "no PostgreSQL is installed on this machine",
      );
    }
    const dataDir = join(home, "data");
    const password = randomBytes(12).toString("hex");
    await initialise({ bin, account, dataDir, user: "keelson", password, sync: false }, watchdog);

    // From below those that kernels give to outgoing connections: one of them might have it while the server restarts.
    let port = 0;
    const start = async (): Promise<void> => {
      const spawned = PostgresProcess.spawn(
        {
          bin,
          account,
          dataDir,
          port,
          settings: { ...throwawaySettings(fsync), ...settings },
          onLine,
        },
        watchdog,
      );
      server = spawned.process;
      await spawned.ready;
      server.unref();
    };
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      port = randomInt(20_000, 32_000);
      try {
        await start();
        break;
      } catch (error) {
        const isTaken = error instanceof PostgresServerError && error.code === "port-taken";
        if (!isTaken || attempt === 10) throw error;
      }
    }

    const urlOf = (database: string): string =>
      `postgres://keelson:${password}@127.0.0.1:${port}/${database}`;
    const administer = async (statement: string): Promise<void> => {
      const sql = postgres(urlOf("postgres"), { max: 1, onnotice: () => {} });
      try {
        await sql.unsafe(statement);
      } finally {
        await sql.end();
      }
    };
    const stop = async ({ mode }: { readonly mode: StopMode }): Promise<void> => {
      await server?.stop(mode);
    };
    let databases = 0;
    let isGone = false;

    return {
      flavour,
      url: urlOf("postgres"),
      port,
      dataDir,
      bin,
      start,
      stop,
      async restart(options) {
        await stop(options);
        await start();
      },
      async createDatabase({ template = "template1" } = {}) {
        const name = `test_${++databases}`;
        await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
        return {
          name,
          url: urlOf(name),
          async [Symbol.asyncDispose]() {
            if (isGone) return;
            await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
          },
        };
      },
      async [Symbol.asyncDispose]() {
        isGone = true;
        await stop({ mode: "immediate" });
        await rm(home, { recursive: true, force: true });
        watchdog.dismiss();
      },
    };
  } catch (error) {
    await server?.stop("immediate");
    await rm(home, { recursive: true, force: true });
    watchdog.dismiss();
    throw error;
  }
}

const shared = new Map<string, Promise<ThrowawayPostgres>>();

/**
 * The one server of its flavour for all tests of this process, started by whoever asks first.
 * Tests take a database each; nobody stops it: it ends with the process. Nobody can pull its plug either, so it
 * does not wait for the disk.
 */
export function sharedThrowawayPostgres(flavour: PostgresFlavour): Promise<ThrowawayPostgres> {
  const server = shared.get(flavour) ?? startThrowawayPostgres({ flavour, fsync: false });
  shared.set(flavour, server);
  return server;
}

function throwawaySettings(fsync: boolean): Record<string, string> {
  return {
    fsync: fsync ? "on" : "off",
    max_connections: "200",
    shared_buffers: "64MB",
    max_wal_size: "512MB",
    autovacuum_naptime: "10s",
  };
}
