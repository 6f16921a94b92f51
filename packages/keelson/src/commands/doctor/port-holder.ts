// Which process listens on a port, as far as the system tells this user.

import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

/** `process 42 (postgres)`; undefined where the system does not say. */
export async function portHolder(port: number): Promise<string | undefined> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  const sockets = tables.flatMap((table) => listeners(table, port)).map((one) => `socket:[${one}]`);
  if (sockets.length === 0) return undefined;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || !(await holdsAny(pid, sockets))) continue;
    // What was started, not what its first thread calls itself: of every Node that is MainThread.
    const [program = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split(
      "\0",
    );
    const name = basename(program);
    return `process ${pid}${name === "" ? "" : ` (${name})`}`;
  }
  return undefined;
}

/** The inodes of what listens there; state 0A is LISTEN. */
function listeners(table: string, port: number): readonly string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(ending) === true && fields[3] === "0A")
    .map((fields) => fields[9] ?? "");
}

async function holdsAny(pid: string, sockets: readonly string[]): Promise<boolean> {
  // Those of other users are not ours to look at.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(
    files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => "")),
  );
  return targets.some((target) => sockets.includes(target));
}
