// What a crash left in a data folder: a server that nobody owns any more, or only its pid file.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@keelson/base";
import { PostgresServerError } from "./errors.ts";
import { livesIn, startOf } from "./process-identity.ts";

/** Ends a server that still runs on `dataDir`, whose owner is gone, and removes a pid file that names a stranger. */
export async function clearLeftover(
  dataDir: string,
  { clock, graceMs = 10_000 }: { readonly clock: Clock; readonly graceMs?: number },
  signal: AbortSignal,
): Promise<"nothing" | "stale pid file" | "orphan"> {
  const file = join(dataDir, "postmaster.pid");
  const [line = ""] = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const pid = Number(line);
  if (!Number.isInteger(pid) || pid <= 1) return "nothing";
  if ((await startOf(pid)) === undefined) return "nothing"; // PostgreSQL sees that for itself.
  if (!(await livesIn(pid, dataDir))) {
    // Somebody else has the pid by now, perhaps another PostgreSQL of the same user: ours would not start.
    await rm(file, { force: true });
    return "stale pid file";
  }
  for (const how of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    kill(pid, how);
    const untilMs = clock.monotonic() + graceMs;
    while (clock.monotonic() < untilMs) {
      if (!(await livesIn(pid, dataDir))) return "orphan";
      await clock.sleep(20, signal);
    }
  }
  throw new PostgresServerError(
    "data-dir-in-use",
    `process ${pid} still runs on the data folder ${dataDir} and does not end`,
  );
}

function kill(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(pid, how);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
