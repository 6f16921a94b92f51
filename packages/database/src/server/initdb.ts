// Prepares a data folder, all or nothing.

import { spawn } from "node:child_process";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Account } from "./account.ts";
import { explain, serverEnvironment } from "./postgres-process.ts";

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
  onPid: (pid: number) => void = () => {},
): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const passwordFile = `${dataDir}.password`;
  try {
    if (account !== undefined) await chown(dataDir, account.uid, account.gid);
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account !== undefined) await chown(passwordFile, account.uid, account.gid);

    const args = ["-D", dataDir, "-U", user, "--pwfile", passwordFile];
    args.push("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions");
    if (!sync) args.push("--no-sync");
    const child = spawn(join(bin, "initdb"), args, {
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
      env: serverEnvironment,
      ...account,
    });
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (child.pid !== undefined) onPid(child.pid);
    const [code, said] = await Promise.all([exited, text(child.stderr)]);
    if (code !== 0) throw explain(said.trim().split("\n"), { dataDir, port: 0 });
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(passwordFile, { force: true });
  }
}
