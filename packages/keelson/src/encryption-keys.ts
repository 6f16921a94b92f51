// The keys that encrypt what is stored: given, or made once and kept beside the data.

import { lstat, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Random } from "@keelson/base";
import { StartError } from "./start-error.ts";

/** The newest first. Without any given, the one of the folder, which is made if it is missing and only its owner reads. */
export async function encryptionKeys(
  given: readonly string[] | undefined,
  { dataDir, random }: { readonly dataDir: string; readonly random: Random },
): Promise<readonly [Uint8Array, ...Uint8Array[]]> {
  const [first, ...others] = (given ?? []).map((text) => Buffer.from(text, "base64"));
  if (first !== undefined) return [first, ...others];
  const file = join(dataDir, "encryption.key");
  try {
    await makeIfMissing(file, random);
    const key = Buffer.from((await readFile(file, "utf8")).trim(), "base64");
    if (key.length === 32) return [key];
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    const fix = "let this user read it, or give the key with KEELSON_ENCRYPTION_KEY";
    throw new StartError("USAGE", `${file} cannot be read or made (${code}): ${fix}`, { cause });
  }
  throw new StartError(
    "USAGE",
    `${file} holds no key of 32 bytes in base64: put the right one back, or remove it and register targets anew`,
  );
}

/**
 * Durably and whole, or not at all: what it encrypts is in the database as soon as that says so, and without it nobody reads
 * that again. The folder is ours alone, so nobody else makes one meanwhile.
 */
async function makeIfMissing(path: string, random: Random): Promise<void> {
  // A link that leads nowhere is there: what it leads to is to come back, not to be made.
  const found = await lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  });
  if (found !== undefined) return;
  const draft = `${path}.new`;
  await rm(draft, { force: true }); // Of a start that was cut off. It may be anybody's to read.
  {
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(`${Buffer.from(random.bytes(32)).toString("base64")}\n`);
    await file.sync();
  }
  await rename(draft, path);
  await using folder = await open(dirname(path), "r");
  await folder.sync();
}
