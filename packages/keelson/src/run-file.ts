// What is running says so in one place: `run.json` in the data folder. Commands, tests and editors find us there.

import { rmSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isAlive, thisProcess } from "./process-identity.ts";

/** The addresses in force. What does not run is absent. */
export interface Addresses {
  /** The URL of the REST API. */
  readonly rest?: string;
  /** The URL of the Kubernetes API. */
  readonly kubernetes?: string;
  /** The path of a kubeconfig for it. */
  readonly kubeconfig?: string;
  /** The URL of the metrics. */
  readonly metrics?: string;
  /** A URL that `psql` takes. */
  readonly database?: string;
}

/** The content of `run.json`. */
export interface RunFile extends Addresses {
  readonly pid: number;
  /** When the process started, as the system tells: with the pid, it names one process and no other. */
  readonly processStart: string;
  /** When it was ready, RFC 3339. */
  readonly startedAt: string;
  readonly version: string;
}

/** The file may be there, and cannot be read: as a rule it belongs to somebody else. The message says which, and why. */
export class RunFileUnreadable extends Error {
  override readonly name = "RunFileUnreadable";
  readonly code = "RUN_FILE_UNREADABLE";
}

const name = "run.json";

/**
 * Writes the file, complete or not at all, for its owner alone: it may hold a password. It is removed when the
 * result is disposed, and at every exit that runs our code; what a kill leaves is recognised as stale.
 */
export async function writeRunFile(
  dataDir: string,
  content: Addresses & { readonly startedAt: string; readonly version: string },
): Promise<AsyncDisposable> {
  const path = join(dataDir, name);
  const { pid, start: processStart } = await thisProcess();
  const { startedAt, version, ...addresses } = content;
  const file: RunFile = { pid, processStart, startedAt, version, ...addresses };
  const building = `${path}.${pid}`;
  await writeFile(building, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
  await rename(building, path);

  const removeAtExit = (): void => rmSync(path, { force: true });
  process.once("exit", removeAtExit);
  return {
    [Symbol.asyncDispose]: async () => {
      process.off("exit", removeAtExit);
      await rm(path, { force: true });
    },
  };
}

/**
 * What runs on this data folder; undefined if nothing does, also where a stale file says otherwise. Throws
 * `RunFileUnreadable` where nobody can tell.
 */
export async function readRunFile(dataDir: string): Promise<RunFile | undefined> {
  const file = parseRunFile(await readIfThere(join(dataDir, name)));
  if (file === undefined) return undefined;
  const isRunning = await isAlive({ pid: file.pid, start: file.processStart });
  return isRunning ? file : undefined;
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new RunFileUnreadable(`${path} cannot be read (${code})`, { cause });
  }
}

/** Undefined where the text is none that we write. */
function parseRunFile(text: string): RunFile | undefined {
  try {
    const file = JSON.parse(text) as Partial<RunFile> | null;
    return typeof file?.pid === "number" ? (file as RunFile) : undefined;
  } catch {
    return undefined;
  }
}
