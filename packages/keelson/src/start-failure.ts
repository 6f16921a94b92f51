// What parts throw at the start, as the one sentence that the user needs.

import {
  DatabaseError,
  DatabaseUnavailable,
  MigrationChanged,
  MigrationFailed,
  PermissionDenied,
  PostgresServerError,
  SchemaTooNew,
  StatementFailed,
} from "@keelson/database";
import {
  BadHostTrust,
  CertificateFileError,
  DatabaseAway,
  KubeconfigFileError,
  OtherKeys,
  PkiBroken,
  TokenFileError,
} from "@keelson/apiserver";
import { TaskFailed } from "@keelson/base";
import { StoreError, Unavailable, type StoreErrorCode } from "@keelson/store";
import type { Config } from "./config.ts";
import { SchemaBehind } from "./ready-database.ts";
import { TokensFileError } from "./rest/identity/tokens-file-error.ts";
import { TlsFilesError } from "./rest/tls-files.ts";
import { StartError, type StartErrorCode } from "./start-error.ts";

/** The error as a `StartError` where it is one that a user can act on; else as it is. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StartError) return error;
  const wrap = (code: StartErrorCode): StartError =>
    new StartError(code, error.message, { cause: error });
  if (error instanceof TokensFileError) {
    const fix = "mend it, or name another file with --tokens-file";
    return new StartError("USAGE", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof TlsFilesError) {
    const settings = "--tls-cert-file, --tls-key-file and --auth-gateway-client-ca";
    return new StartError("USAGE", `${error.message}: ${settings} say which files are read`, {
      cause: error,
    });
  }
  if (error instanceof CertificateFileError) {
    const settings = "--tls-cert-file, --tls-private-key-file, --client-ca-file and --cert-dir";
    return new StartError("USAGE", `${error.message}: ${settings} say which files are read`, {
      cause: error,
    });
  }
  if (error instanceof TokenFileError) {
    const fix = "mend it, or name another file with --token-auth-file";
    return new StartError("USAGE", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof PkiBroken) {
    const fix =
      "bring the files back, or name another folder with --cert-dir, for new keys with which what the old ones signed is refused";
    return new StartError("USAGE", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof OtherKeys) {
    const names = "ca.crt, ca.key, front-proxy-ca.crt, front-proxy-ca.key and sa.key";
    const fix = `give this one its --cert-dir, or copy ${names} from there into the one it has`;
    return new StartError(
      "USAGE",
      `${error.message}, so that each refuses what the other signs: ${fix}`,
      {
        cause: error,
      },
    );
  }
  if (error instanceof KubeconfigFileError) {
    const aggregated = "to serve behind that cluster use keelson apiserver --aggregated; else";
    const fix = `${error.reason === "foreign" ? `${aggregated} ` : ""}name another path for our kubeconfig with --kubeconfig`;
    return new StartError("USAGE", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof PostgresServerError && error.code === "port-taken") {
    const fix = portFix("--database-port");
    return new StartError("PORT_TAKEN", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof PostgresServerError) return wrap(serverCodes[error.code]);
  if (error instanceof DatabaseUnavailable) return wrap("DATABASE_UNAVAILABLE");
  if (error instanceof PermissionDenied) {
    const fix = "name the one that made the tables with --database-url, or let it grant them";
    return new StartError("DATABASE_UNAVAILABLE", `${error.message}: ${fix}`, { cause: error });
  }
  if (error instanceof BadHostTrust) {
    const place = "ConfigMap kube-system/extension-apiserver-authentication of the host cluster";
    return new StartError("HOST_UNAVAILABLE", `${place} cannot be used: ${error.message}`, {
      cause: error,
    });
  }
  const stored = storeErrorIn(error);
  if (stored === undefined) return error;
  const code = stored.code === "Locked" ? "DATA_DIR_LOCKED" : "DATABASE_UNAVAILABLE";
  return new StartError(code, stored.message, { cause: error });
}

/**
 * What the store says of its database, be it of one of several things, or as the cause of what somebody else says. Of a part that
 * failed while it ran nothing: where it was tells more.
 */
function storeErrorIn(error: unknown): StoreError | undefined {
  if (error instanceof StoreError) return ofDatabase.has(error.code) ? error : undefined;
  if (!(error instanceof Error) || error instanceof TaskFailed) return undefined;
  const within: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  for (const one of within) {
    const found = storeErrorIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The rest is of objects: nothing that the start of a server asks for, and a fault of ours. */
const ofDatabase: ReadonlySet<StoreErrorCode> = new Set([
  "Unavailable",
  "Full",
  "Corrupt",
  "SchemaMismatch",
  "Locked",
]);

type DatabaseSettings = Pick<
  Config,
  | "storageDriver"
  | "sqlitePath"
  | "databaseUrl"
  | "postgresHost"
  | "postgresPort"
  | "postgresDatabase"
>;

/** A database of the Kubernetes API that was there, and then away for longer than a start waits. Anything else stays as it is. */
export function databaseAwayFailure(error: unknown, config: DatabaseSettings): unknown {
  if (!(error instanceof DatabaseAway)) return error;
  const fix = "see that it runs, can be reached and has connections left, and start again";
  const { name } = objectsDatabase(config);
  const message = `${name} holds the objects of the Kubernetes API, and went away during the start: ${error.message}: ${fix}`;
  return new StartError("DATABASE_UNAVAILABLE", message, { cause: error });
}

/** What the store says of its database during the start, with its place and what to do. Anything else, and a lock, stays as it is. */
export function storeFailure(error: unknown, config: DatabaseSettings): unknown {
  if (error instanceof StartError) return error;
  const stored = storeErrorIn(error);
  if (stored === undefined || stored.code === "Locked") return error;
  const { name, setting } = objectsDatabase(config);
  const fix = fixOf(stored.code, config);
  const choose = setting === undefined ? "" : `, or name another with ${setting}`;
  const message = `${name}: ${stored.message}${fix === undefined ? "" : `: ${fix}`}${choose}`;
  return new StartError("DATABASE_UNAVAILABLE", message, { cause: error });
}

/** Undefined where the store has said it. */
function fixOf(code: StoreErrorCode, { storageDriver }: DatabaseSettings): string | undefined {
  if (code === "Full") return "make room";
  if (code === "Corrupt") return "bring it back from a copy";
  if (code !== "Unavailable" || storageDriver !== "sqlite") return undefined;
  return "let this user read and write it, its .lock and its folder";
}

/** A database as people know it, without anybody's password, and the setting that chooses it. */
interface NamedDatabase {
  readonly name: string;
  /** Undefined where nothing is to be chosen: it is our own. */
  readonly setting: string | undefined;
}

/** A database that could not be reached for as long as a start waits. Anything else stays as it is. */
export function unreachableFailure(
  error: unknown,
  { what, name, setting }: NamedDatabase & { readonly what: string },
): unknown {
  if (!(error instanceof DatabaseUnavailable || error instanceof Unavailable)) return error;
  const choose = setting === undefined ? "" : `, or name another with ${setting}`;
  const message = `${name} is to hold ${what}, and cannot be used: ${error.message}: see that it runs and can be reached${choose}`;
  return new StartError("DATABASE_UNAVAILABLE", message, { cause: error });
}

/**
 * A services' database that lets us in, and not do what a start must, or whose schema nobody has made or somebody has made
 * otherwise. Anything else stays as it is, and so does one that is away.
 */
export function refusedFailure(
  error: unknown,
  config: Pick<DatabaseSettings, "databaseUrl">,
): unknown {
  const { name, setting } = servicesDatabase(config);
  const otherwise = `or name another with ${setting ?? "--data-dir"}`;
  const say = (message: string): StartError =>
    new StartError("DATABASE_UNAVAILABLE", message, { cause: error });
  if (error instanceof SchemaBehind) {
    const fix = "start one replica without --auto-migrate=false, which brings it up to date";
    return say(`the schema of ${name} is behind: ${fix}`);
  }
  if (error instanceof SchemaTooNew || error instanceof MigrationChanged) {
    return say(`${name}: ${error.message}: run the version that made it, ${otherwise}`);
  }
  if (error instanceof MigrationFailed) {
    const why = `${error.message}, and nothing of it was kept: ${reasonOf(error.cause)}`;
    return say(`${name}: ${why}: see what somebody else has made in that schema, ${otherwise}`);
  }
  if (!(error instanceof DatabaseError) || error instanceof DatabaseUnavailable) return error;
  const isNotOurs = error instanceof PermissionDenied && config.databaseUrl !== undefined;
  const fix = isNotOurs ? ownerFix(config.databaseUrl) : "its log says more";
  return say(
    `${name} is to hold the services' data, and cannot be used: ${reasonOf(error)}: ${fix}, ${otherwise}`,
  );
}

/** Of a statement that failed only the server tells why. */
function reasonOf(error: unknown): string {
  const told = error instanceof StatementFailed ? error.cause : error;
  return told instanceof Error ? told.message : String(told);
}

/** What lets the user of a URL make schemas where it leads. */
export function ownerFix(url: string): string {
  const { username, pathname } = URL.parse(url) ?? { username: "", pathname: "" };
  const user = decodeURIComponent(username);
  const command = `ALTER DATABASE ${quoted(pathname.slice(1) || user)} OWNER TO ${quoted(user)}`;
  return `let ${user} make schemas and tables there, as the owner of the database may (${command})`;
}

/** As psql takes it. */
function quoted(identifier: string): string {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(identifier);
  return isPlain ? identifier : `"${identifier.replaceAll('"', '""')}"`;
}

/** Where the objects of the Kubernetes API are. */
export function objectsDatabase(config: DatabaseSettings): NamedDatabase {
  if (config.storageDriver === "sqlite") {
    return { name: `the file ${config.sqlitePath}`, setting: "--sqlite-path" };
  }
  const { postgresHost: host } = config;
  if (host === undefined) return servicesDatabase(config);
  const name = `the PostgreSQL database ${config.postgresDatabase} at ${host}:${config.postgresPort}`;
  return { name, setting: "--postgres-host" };
}

/** Where the services keep what they know. */
export function servicesDatabase({
  databaseUrl,
}: Pick<DatabaseSettings, "databaseUrl">): NamedDatabase {
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) {
    return { name: "the embedded PostgreSQL", setting: undefined };
  }
  const { host: place, pathname } = new URL(databaseUrl);
  const name = `the PostgreSQL database ${pathname.slice(1)} at ${place}`;
  return { name, setting: "--database-url" };
}

/** A listener that could not be opened. */
export function listenFailure(
  error: unknown,
  {
    what,
    flag,
    address,
    port,
  }: {
    readonly what: string;
    readonly flag: string;
    readonly address: string;
    readonly port: number;
  },
): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const place = `${address}:${port}`;
  if (code === "EADDRINUSE") {
    return new StartError(
      "PORT_TAKEN",
      `port ${port} on ${address} is taken, so ${what} cannot listen: ${portFix(flag)}`,
      {
        cause: error,
      },
    );
  }
  if (
    code === "EACCES" ||
    code === "EADDRNOTAVAIL" ||
    code === "ENOTFOUND" ||
    code === "EAI_AGAIN"
  ) {
    return new StartError(
      "USAGE",
      `${what} cannot listen on ${place} (${code}): choose another address or port`,
      {
        cause: error,
      },
    );
  }
  return error;
}

function portFix(flag: string): string {
  return `stop what listens there, or choose another with ${flag} (0 for any free one)`;
}

const serverCodes: Record<PostgresServerError["code"], StartErrorCode> = {
  "account-missing": "DATABASE_UNAVAILABLE",
  "binaries-missing": "DATABASE_UNAVAILABLE",
  "data-dir-in-use": "DATA_DIR_LOCKED",
  "data-dir-not-writable": "DATA_DIR_NOT_WRITABLE",
  "data-dir-other-version": "DATABASE_UNAVAILABLE",
  "data-dir-unreachable": "DATA_DIR_NOT_WRITABLE",
  "disk-full": "DATA_DIR_NOT_WRITABLE",
  "port-taken": "PORT_TAKEN",
  "start-failed": "DATABASE_UNAVAILABLE",
  "stop-failed": "DATABASE_UNAVAILABLE",
};
