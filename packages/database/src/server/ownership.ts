// Which process of ours a data folder belongs to. PostgreSQL's own lock says which server runs on it; this one
// says who may stop that server: an orphan is ended and replaced, a sibling's is left alone.

import { link, readFile, rm, writeFile } from "node:fs/promises";
import type { Random } from "@keelson/base";
import { PostgresServerError } from "./errors.ts";
import { bootId, startOf } from "./process-identity.ts";

interface Owner {
  readonly pid: number;
  readonly start: string;
  /** Which run of the machine it was; marks of earlier versions do not say. */
  readonly boot?: string;
}

/** Marks `dataDir` as ours until disposed. Throws `data-dir-in-use` while the process that has it lives. */
export async function ownDataDir(
  dataDir: string,
  { random }: { readonly random: Random },
): Promise<AsyncDisposable> {
  const file = `${dataDir}.owner`;
  const ours = await thisOwner();
  // Under a name of its own first: whoever reads a mark reads a whole one.
  const written = `${file}.${process.pid}-${random.uuid()}`;
  try {
    await writeFile(written, JSON.stringify(ours), { flag: "wx", mode: 0o644 });
    const other = await take(file, written);
    if (other !== undefined) {
      throw new PostgresServerError(
        "data-dir-in-use",
        `the data folder ${dataDir} is in use by process ${other.pid}`,
      );
    }
  } finally {
    await rm(written, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/**
 * Puts the mark `written` at `file`, or answers the living process that has it or is about to.
 *
 * Only whoever holds `<file>.next` removes the mark of a dead process, and only the one that it saw: a mark that
 * somebody has put there meanwhile is never taken for it. What a crash leaves at `<file>.next` goes the same way.
 */
async function take(file: string, written: string): Promise<Owner | undefined> {
  for (;;) {
    if (await isLinked(written, file)) return undefined;
    const seen = await read(file);
    if (seen === undefined) continue;
    const owner = parse(seen);
    if (owner !== undefined && (await isAlive(owner))) return owner;
    const next = `${file}.next`;
    const other = await take(next, written);
    if (other !== undefined) return other;
    try {
      if ((await read(file)) === seen) await rm(file, { force: true });
    } finally {
      await rm(next, { force: true });
    }
  }
}

async function thisOwner(): Promise<Owner> {
  const [start = "", boot] = [await startOf(process.pid), await bootId()];
  return { pid: process.pid, start, ...(boot === undefined ? {} : { boot }) };
}

/** Whether that very process is still there. None of an earlier run of the machine is. */
async function isAlive({ pid, start, boot }: Owner): Promise<boolean> {
  const now = await bootId();
  if (boot !== undefined && now !== undefined && boot !== now) return false;
  return (await startOf(pid)) === start;
}

/** Whether the file now has that name too; not if another has it. */
async function isLinked(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Undefined for one that an earlier version was writing when it was killed. */
function parse(mark: string): Owner | undefined {
  try {
    return JSON.parse(mark) as Owner;
  } catch {
    return undefined;
  }
}
