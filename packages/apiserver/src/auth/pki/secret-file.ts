// Files that only their owner may read, and that are there as a whole or not at all.

import { lstat, mkdir, open, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

import type { Random } from "@keelson/base";

/**
 * Puts the text where the path says, in one step and durably: whoever reads sees the old or the new one. Mode 0600. What root
 * writes belongs to whoever had it before, else to whoever has the folder.
 */
export async function writeSecretFile(path: string, text: string, random: Random): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${random.uuid()}`;
  try {
    {
      await using file = await open(draft, "wx", 0o600);
      if (process.getuid?.() === 0) await handOver(file, path);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using directory = await open(folder, "r");
  await directory.sync();
}

/** Without this a server that root starts once leaves its usual user files that only root may read. */
async function handOver(file: FileHandle, path: string): Promise<void> {
  const folder = await stat(dirname(path));
  // Where many may write, a file may have been put there to be given ours.
  const isShared = (folder.mode & 0o022) !== 0;
  const replaced = isShared ? undefined : await lstat(path).catch(() => undefined);
  const { uid, gid } = replaced ?? folder;
  // Root of a container may not give files away, and then needs them itself.
  if (uid !== 0) await file.chown(uid, gid).catch(() => undefined);
}

/** The text of a file; undefined if there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** What the system calls a failure: `ENOENT`; of others, what they say. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
