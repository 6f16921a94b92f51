// Files that only their owner may read, and that are there as a whole or not at all.

import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

import type { Random } from "@keelson/base";

/** Puts the text where the path says, in one step and durably: whoever reads sees the old or the new one. Mode 0600. */
export async function writeSecretFile(path: string, text: string, random: Random): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${random.uuid()}`;
  try {
    {
      await using file = await open(draft, "wx", 0o600);
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
