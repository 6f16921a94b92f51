// Whether a process is still there.

import { readFileSync } from "node:fs";

/** A process that has ended but that nobody has waited for, as in a container without an init, is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isZombie(pid);
}

/** Only Linux says so in a file; elsewhere there is an init that waits. */
function isZombie(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return status.slice(status.lastIndexOf(")")).startsWith(") Z");
  } catch {
    return false;
  }
}
