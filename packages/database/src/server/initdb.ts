// Prepares a data folder, all or nothing.

import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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

/** Creates a database cluster in `dataDir`, whose parent exists. On failure `dataDir` is gone. */
export async function initialise(
  { bin, account, dataDir, user, password, sync }: InitOptions,
  watchdog: Watchdog,
): Promise<void> {
  // Not beside the data: the account may not be able to reach that.
  const secret = await mkdtemp(join(tmpdir(), "keelson-initdb-"));
  const passwordFile = join(secret, "password");
  try {
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
