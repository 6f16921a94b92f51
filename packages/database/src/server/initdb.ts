// Prepares a data folder, all or nothing.

import {
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  rmdir,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Account } from "./account.ts";
import { explain, seenFromInside, serverEnvironment } from "./postgres-process.ts";
import type { Watchdog } from "./watchdog.ts";

export interface InitOptions {
  readonly bin: string;
  readonly account: Account | undefined;
  readonly dataDir: string;
  readonly user: string;
  readonly password: string;
  /** Whether the new files must be safe on disk before we go on. */
  readonly sync: boolean;
}

const secretPrefix = "keelson-initdb-";

/** Creates a database cluster in `dataDir`, whose parent exists. On failure `dataDir` is gone. */
export async function initialise(
  { bin, account, dataDir, user, password, sync }: InitOptions,
  watchdog: Watchdog,
): Promise<void> {
  // Not beside the data: the account may not be able to reach that.
  const secret = await mkdtemp(join(tmpdir(), secretPrefix));
  const passwordFile = join(secret, "password");
  try {
    await clearForgotten(secret, account);
    await mkdir(dataDir, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account !== undefined) {
      for (const path of [dataDir, secret, passwordFile]) {
        await chown(path, account.uid, account.gid);
      }
    }
    const args = ["-D", seenFromInside(dataDir), "-U", user, "--pwfile", passwordFile];
    args.push("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions");
    if (!sync) args.push("--no-sync");
    const child = watchdog.spawn(join(bin, "initdb"), args, {
      cwd: dataDir,
      env: serverEnvironment,
      ...account,
    });
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const [code, said] = await Promise.all([exited, text(child.stderr)]);
    watchdog.forget();
    if (code !== 0) {
      const place = dataDir.replace(/\.new$/, ""); // Where it would have gone.
      throw explain(said.trim().split("\n"), { dataDir: place, port: 0 });
    }
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(secret, { recursive: true, force: true });
  }
}

/** No start takes so long. */
const forgottenMs = 3_600_000;

/**
 * Removes the passwords that starts of ours have left which were killed: by age against the folder made just now, whose time
 * is of the same clock. Never anything but the one file: the folder may be another's by the time it is removed.
 */
async function clearForgotten(secret: string, account: Account | undefined): Promise<void> {
  const { mtimeMs: now } = await lstat(secret);
  const ours = [process.getuid?.(), account?.uid];
  const names = await readdir(tmpdir()).catch(() => []); // It may be entered and not listed.
  for (const name of names.filter((name) => name.startsWith(secretPrefix))) {
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true || !ours.includes(found.uid)) continue;
    if (now - found.mtimeMs < forgottenMs) continue;
    await unlink(join(folder, "password")).catch(() => undefined);
    await rmdir(folder).catch(() => undefined);
  }
}
