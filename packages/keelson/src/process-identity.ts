// Which process a number meant. Numbers are used again, so the start of the process belongs to its name.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A process, for as long as the machine runs and beyond: no other one has the same two. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, as the system tells; a text to compare, nothing else. */
  readonly start: string;
}

/** This process. */
export async function thisProcess(): Promise<ProcessIdentity> {
  return { pid: process.pid, start: (await startOf(process.pid)) ?? "" };
}

/** Whether that very process is still there. */
export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await startOf(pid)) === start;
}

/** Undefined where there is no such process, or only its remains. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    if (stat === undefined) return undefined;
    // The name stands in brackets and may contain anything; the state follows it, the start 19 fields later.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    // Ticks since the machine started: the same count comes again after a restart of the machine.
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
    return `${boot.trim()}/${fields[19]}`;
  }
  const found = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]).catch(
    () => undefined,
  );
  return found?.stdout.trim() || undefined;
}
