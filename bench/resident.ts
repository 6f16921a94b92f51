// What a process has in memory, as Linux tells it; elsewhere nothing is known.

import { residentBytes } from "../test/e2e/resident.ts";
import { judged, type Row } from "./report.ts";

/** Rows: what it has now, and what it had at most. */
export function memoryRows(pid: number, when: string): readonly Row[] {
  const megabytes = (field: "VmRSS" | "VmHWM"): number =>
    (residentBytes(pid, field) ?? Number.NaN) / 1024 ** 2;
  return [
    judged({ name: `resident memory, ${when}`, value: megabytes("VmRSS"), unit: "MB" }),
    judged({ name: `resident memory, ${when}, at most`, value: megabytes("VmHWM"), unit: "MB" }),
  ];
}
