// The data folder belongs to one process at a time.

import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock, Random } from "@keelson/base";
import { isAlive, thisProcess, type ProcessIdentity } from "./process-identity.ts";
import { StartError } from "./start-error.ts";

export interface DataDirOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The folder, ours until it is disposed. */
export interface DataDir extends AsyncDisposable {
  readonly path: string;
}

/** Two that start at the same moment see each other and both step back; then chance decides. */
const attemptsMax = 4;

/**
 * Makes the folder if it is missing, and claims it. Throws `DATA_DIR_LOCKED` while another process has it, and
 * `DATA_DIR_NOT_WRITABLE`. The claim of a process that is gone, however it went, counts for nothing.
 *
 * Each process announces itself in a file of its own name and only then looks for others: of two, at least the
 * second one sees the other. Nobody ever removes the claim of somebody who lives, so there is no moment in which
 * two could hold the folder.
 */
export async function claimDataDir(options: DataDirOptions, signal: AbortSignal): Promise<DataDir> {
  const { path, clock, random } = options;
  const claims = join(path, "claims");
  const us = await thisProcess();
  const ours = join(claims, `${us.pid}.json`);
  await writable(path, async () => {
    // Others must be able to pass: under root PostgreSQL runs as another user, in a folder of its own.
    await makeFolder(path, 0o711);
    await makeFolder(claims, 0o755);
  });

  for (let attempt = 1; ; attempt++) {
    await writable(path, () => writeFile(ours, JSON.stringify(us), { mode: 0o644 }));
    const other = await otherHolder(claims, ours);
    if (other === undefined) break;
    await rm(ours, { force: true });
    if (attempt === attemptsMax) {
      throw new StartError(
        "DATA_DIR_LOCKED",
        `the data folder ${path} is in use by process ${other.pid}: stop it, or choose another folder with --data-dir`,
      );
    }
    await clock.sleep(20 + random.integer(100), signal);
  }

  const removeAtExit = (): void => rmSync(ours, { force: true });
  process.once("exit", removeAtExit);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      process.off("exit", removeAtExit);
      await rm(ours, { force: true });
    },
  };
}

/** A living process that has a claim; the claims of the dead are removed on the way. */
async function otherHolder(claims: string, ours: string): Promise<ProcessIdentity | undefined> {
  for (const name of await readdir(claims)) {
    const file = join(claims, name);
    if (file === ours) continue;
    const claim = await readClaim(file);
    if (claim !== undefined && (await isAlive(claim))) return claim;
    // Half a claim may be one that is being written: its writer has yet to look, and will see ours.
    if (claim !== undefined || !(await isAlivePid(name))) await rm(file, { force: true });
  }
  return undefined;
}

async function readClaim(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

async function isAlivePid(name: string): Promise<boolean> {
  try {
    return process.kill(Number.parseInt(name, 10), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Makes a folder, and those above it, where they are missing. By ourselves: the recursive `mkdir` of Node tries for ever where the
 * system answers ENOENT although the folder above is there, as in /proc or where disks are mounted on demand.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  if (await isFolder(path)) return;
  await makeFolder(dirname(path), mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Another was faster; or it is a file, or a link, and `stat` throws of one that leads nowhere.
    if (!(await stat(path)).isDirectory()) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Names what the file system refuses. */
async function writable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    const reason = reasons[code] ?? `cannot be used (${code})`;
    throw new StartError(
      "DATA_DIR_NOT_WRITABLE",
      `the data folder ${path} ${reason}: choose another with --data-dir`,
      { cause },
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "may not be written to by this user",
  EPERM: "may not be written to by this user",
  EROFS: "is on a read-only file system",
  ENOTDIR: "is not a folder",
  EEXIST: "is not a folder",
  ENOENT: "cannot be made there, where a link leads nowhere or the system takes no folders",
  ENOSPC: "has no space left on its disk",
  EDQUOT: "has no space left on its disk",
};
