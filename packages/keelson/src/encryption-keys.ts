// The keys that encrypt what is stored: given, or made once and kept beside the data.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  const made = Buffer.from(random.bytes(32)).toString("base64");
  try {
    await writeFile(file, `${made}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const key = Buffer.from((await readFile(file, "utf8")).trim(), "base64");
  if (key.length === 32) return [key];
  throw new StartError(
    "USAGE",
    `${file} holds no key of 32 bytes in base64: put the right one back, or remove it and register targets anew`,
  );
}
