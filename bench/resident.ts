// What a process has in memory, as Linux tells it; elsewhere nothing is known.

import { readFileSync } from "node:fs";
import { judged, type Row } from "./report.ts";

/** Rows: what it has now, and what it had at most. */
export function memoryRows(pid: number, when: string): readonly Row[] {
  const { nowMb, mostMb } = residentOf(pid);
  return [
    judged({ name: `resident memory, ${when}`, value: nowMb, unit: "MB" }),
    judged({ name: `resident memory, ${when}, at most`, value: mostMb, unit: "MB" }),
  ];
}

function residentOf(pid: number): { readonly nowMb: number; readonly mostMb: number } {
  let status = "";
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    // No such folder here.
  }
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? Number.NaN) / 1024;
  return { nowMb: megabytes("VmRSS"), mostMb: megabytes("VmHWM") };
}
