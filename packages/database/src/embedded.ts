// The PostgreSQL that comes with us: a child process on loopback, for as long as we run.

import { chown, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  silentLog,
  systemClock,
  systemRandom,
  type Clock,
  type Log,
  type Random,
} from "@keelson/base";
import { openDatabase, type Database } from "./database.ts";
import { DatabaseError } from "./errors.ts";
import { accountFor, type Account } from "./server/account.ts";
import { embeddedBinaries } from "./server/binaries.ts";
import { PostgresServerError } from "./server/errors.ts";
import { initialise } from "./server/initdb.ts";
import { clearLeftover } from "./server/leftover.ts";
import { ownDataDir } from "./server/ownership.ts";
import { PostgresProcess } from "./server/postgres-process.ts";
import { Supervisor } from "./server/supervisor.ts";
import { Watchdog } from "./server/watchdog.ts";
import { closeDatabase, createDatabase, hasDatabase } from "./sql/create-database.ts";

export interface EmbeddedPostgresOptions {
  /** Where the data live. Made on first use; its parent too. */
  readonly dataDir: string;
  /** On 127.0.0.1; 0 for any that is free, the one of last time if it is. */
  readonly port?: number;
  /** The database that `url` leads to. */
  readonly database?: string;
  /** Settings of `postgresql.conf`, over our own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called when something begins that takes a while. */
  readonly onProgress?: (step: "initialising" | "starting" | "recovering") => void;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
}

/** A running server; disposing stops it in order and waits for that. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** A URL that `psql` takes. It holds the password: not for logs. */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /**
   * The URL of another database of this server, made if there is none, for roles of others: from then on they may not
   * enter ours.
   */
  databaseApart(name: string, signal: AbortSignal): Promise<string>;
}

/** The major version of the programs we ship: data of another one cannot be read by them. */
const majorVersion = "18";
const user = "keelson";

/**
 * Starts PostgreSQL on `dataDir` and resolves when it accepts connections.
 *
 * Works as root, where the server runs as another user who gets the folder, and as anybody else. What a crash left
 * behind is cleared away first. A server that ends by itself is started again on the same port. When this process
 * dies in whatever way, the server ends too. Throws a `PostgresServerError` that says in one sentence what is
 * wrong with folder, disk or port.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  signal: AbortSignal,
): Promise<EmbeddedPostgres> {
  signal.throwIfAborted();
  const { clock = systemClock, random = systemRandom, log = silentLog, onProgress } = options;
  const { port = 0, database = "keelson", settings = {} } = options;
  await using setup = new AsyncDisposableStack();
  const dataDir = await writable(options.dataDir, () => prepareParent(options.dataDir));
  setup.use(await writable(dataDir, () => ownDataDir(dataDir, { random })));

  const account = await accountFor(dataDir);
  const bin = await embeddedBinaries(account);
  const watchdog = new Watchdog({ mode: "fast" });
  setup.defer(() => watchdog.dismiss());

  await writable(dataDir, async () => {
    if (await isInitialised(dataDir)) return;
    onProgress?.("initialising");
    await createDataDir({ bin, account, dataDir, clock, random }, watchdog, signal);
  });
  const left = await clearLeftover(dataDir, { clock }, signal);
  if (left !== "nothing") log.warn({ dataDir, left }, "cleared what a crash left behind");
  const password = (await readFile(join(dataDir, passwordFile), "utf8")).trim();

  onProgress?.("starting");
  const supervisor = new Supervisor({
    clock,
    random,
    log,
    spawn: (port) => {
      const onLine = (line: string): void => {
        if (line.includes("automatic recovery in progress")) onProgress?.("recovering");
        logLine(log, line);
      };
      const server = {
        bin,
        account,
        dataDir,
        port,
        settings: { ...ourSettings, ...settings },
        onLine,
      };
      return PostgresProcess.spawn(server, watchdog);
    },
  });
  setup.defer(() => supervisor.stop());
  const lastPort = port === 0 ? await readPort(dataDir) : undefined;
  await supervisor.start(port, lastPort, signal);
  // Without it the next start is on another port, and no worse.
  await writeFile(join(dataDir, portFile), `${supervisor.port}\n`).catch(() => undefined);

  const urlOf = (name: string): string =>
    `postgres://${user}:${password}@127.0.0.1:${supervisor.port}/${name}`;
  try {
    await ensureDatabase(urlOf("postgres"), database, signal);
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause;
    throw new PostgresServerError(
      "start-failed",
      `PostgreSQL started on ${dataDir} and does not answer: ${cause.message}`,
      { cause },
    );
  }
  const owned = setup.move();
  return {
    url: urlOf(database),
    port: supervisor.port,
    dataDir,
    databaseApart: async (name, signal) => {
      await ensureDatabase(urlOf("postgres"), name, signal);
      await using admin = openSetup(urlOf(database));
      await admin.run(closeDatabase, database, signal);
      return urlOf(name);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const passwordFile = "keelson-password";
/** Where it listened last. Whoever was told an address finds the server there again, if nobody has taken the port. */
const portFile = "keelson-port";

async function readPort(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, portFile), "utf8").catch(() => "");
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : undefined;
}

const ourSettings = {
  max_connections: "200",
  max_wal_size: "1GB",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  // After a crash everything is synced before the recovery: file by file that takes minutes on a slow disk.
  ...(process.platform === "linux" ? { recovery_init_sync_method: "syncfs" } : {}),
} as const;

/** The folder by its real path; its parent is there afterwards. */
async function prepareParent(dataDir: string): Promise<string> {
  await mkdir(dirname(dataDir), { recursive: true });
  return join(await realpath(dirname(dataDir)), basename(dataDir));
}

async function isInitialised(dataDir: string): Promise<boolean> {
  const version = await readFile(join(dataDir, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version?.trim() === majorVersion) return true;
  if (version !== undefined) {
    throw new PostgresServerError(
      "data-dir-other-version",
      `the data folder ${dataDir} belongs to PostgreSQL ${version.trim()}, and ours is ${majorVersion}`,
    );
  }
  const content = await readdir(dataDir).catch(() => []);
  if (content.length === 0) return false;
  throw new PostgresServerError(
    "start-failed",
    `the folder ${dataDir} is not empty and holds no data of PostgreSQL`,
  );
}

/** Beside its place, then moved there: a data folder is complete or absent, whenever we are killed. */
async function createDataDir(
  {
    bin,
    account,
    dataDir,
    clock,
    random,
  }: {
    readonly bin: string;
    readonly account: Account | undefined;
    readonly dataDir: string;
    readonly clock: Clock;
    readonly random: Random;
  },
  watchdog: Watchdog,
  signal: AbortSignal,
): Promise<void> {
  const building = `${dataDir}.new`;
  await clearUnfinished(building, { clock }, signal);
  const password = Buffer.from(random.bytes(24)).toString("hex");
  await initialise({ bin, account, dataDir: building, user, password, sync: true }, watchdog);
  const secret = join(building, passwordFile);
  await writeFile(secret, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) await chown(secret, account.uid, account.gid);
  await rename(building, dataDir);
}

const clearingsMax = 100;
const clearingPauseMs = 100;
/** What it comes to where somebody else writes or removes meanwhile. */
const disturbed: readonly (string | undefined)[] = ["ENOTEMPTY", "ENOENT"];

/** Removes what a start that was killed has left. Its programs end a moment after it, and are at work there until then. */
async function clearUnfinished(
  folder: string,
  { clock }: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  for (let clearings = 1; ; clearings++) {
    try {
      await rm(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!disturbed.includes(code) || clearings === clearingsMax) throw error;
    }
    await clock.sleep(clearingPauseMs, signal);
  }
}

/** Names what the file system refuses. */
async function writable<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    switch ((cause as NodeJS.ErrnoException).code ?? "none") {
      case "EACCES":
      case "EPERM":
      case "EROFS":
      case "ENOTDIR":
      case "EEXIST": // A file stands where the folder should.
        throw new PostgresServerError(
          "data-dir-not-writable",
          `the data folder ${dataDir} cannot be made or written to`,
          { cause },
        );
      case "ENOSPC":
      case "EDQUOT":
        throw new PostgresServerError("disk-full", `no space is left on the disk of ${dataDir}`, {
          cause,
        });
      default:
        throw cause;
    }
  }
}

/** The server is there and just starts: on a busy machine its first answers take longer than those of one that is away may. */
const setupPatience = { deadlineMs: 50_000, connectTimeoutMs: 30_000 };

/** A pool for what is made once. */
function openSetup(url: string): Database {
  return openDatabase({ url, name: "setup", connectionsMax: 1, ...setupPatience });
}

async function ensureDatabase(url: string, name: string, signal: AbortSignal): Promise<void> {
  await using admin = openSetup(url);
  const found = await admin.run(hasDatabase, name, signal);
  if (found.length === 0) await admin.run(createDatabase, name, signal);
}

/** What the server tells each session that is still there when it ends in order. */
const farewell = /^terminating .*due to administrator command$/;

function logLine(log: Log, line: string): void {
  const [, level = "", said = line] = /^([A-Z]+):\s+(.*)$/.exec(line) ?? [];
  const isFatal = level === "FATAL" || level === "PANIC";
  const fields = { said: said.trim() };
  if (isFatal && !farewell.test(said)) log.error(fields, "PostgreSQL says");
  else if (level === "WARNING" || level === "ERROR") log.warn(fields, "PostgreSQL says");
  else log.debug(fields, "PostgreSQL says");
}
