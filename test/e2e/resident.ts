import { readFileSync } from "node:fs";

/** What Linux says that a process has in memory now, or had at most; undefined where nobody knows. */
export function residentBytes(
  pid: number | undefined,
  field: "VmRSS" | "VmHWM" = "VmRSS",
): number | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return undefined; // It has ended, or this is no Linux.
  }
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
