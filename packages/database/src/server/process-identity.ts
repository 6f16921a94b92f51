// Process ids are used again, so a pid alone says little of who it was.

import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * Which run of the machine this is; undefined where the system does not tell. Linux counts the start of a process
 * from it, so that after a reboot another process can have the same pid and the same start.
 */
export async function bootId(): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  const id = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return id.trim() || undefined;
}

/** When the process started, as a text to compare; undefined when there is no such process. */
export async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    // The second field is the name, which may contain anything; the start is the twentieth after it.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields?.[0] === "Z" ? undefined : fields?.[19];
  }
  return (await told(pid, "lstart")) || undefined;
}

/** Whether the process is a PostgreSQL at home in `dataDir`: it stands there, or was told to. */
export async function livesIn(pid: number, dataDir: string): Promise<boolean> {
  if (process.platform === "linux") {
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return folder === dataDir;
  }
  const command = await told(pid, "command");
  return command.includes("postgres") && command.includes(dataDir);
}

/** What `ps` tells of a process; empty if there is none. */
async function told(pid: number, column: string): Promise<string> {
  const asked = promisify(execFile)("ps", ["-o", `${column}=`, "-p", String(pid)]);
  return await asked.then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
}
