// Which process of ours a data folder belongs to. PostgreSQL's own lock says which server runs on it; this one
// says who may stop that server: an orphan is ended and replaced, a sibling's is left alone.

import { readFile, rm, writeFile } from "node:fs/promises";
import { PostgresServerError } from "./errors.ts";
import { startOf } from "./process-identity.ts";

interface Owner {
  readonly pid: number;
  readonly start: string;
}

/** Marks `dataDir` as ours until disposed. Throws `data-dir-in-use` while the process that has it lives. */
export async function ownDataDir(dataDir: string): Promise<AsyncDisposable> {
  const file = `${dataDir}.owner`;
  const ours: Owner = { pid: process.pid, start: (await startOf(process.pid)) ?? "" };
  for (;;) {
    try {
      await writeFile(file, JSON.stringify(ours), { flag: "wx", mode: 0o644 });
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = await readOwner(file);
    if (owner !== undefined && (await startOf(owner.pid)) === owner.start) {
      throw new PostgresServerError(
        "data-dir-in-use",
        `the data folder ${dataDir} is in use by process ${owner.pid}`,
      );
    }
    await rm(file, { force: true });
  }
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Owner;
  } catch {
    return undefined; // Gone, or cut short by a crash.
  }
}
