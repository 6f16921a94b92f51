// What the programs under comparison say and hear: lines of JSON out, a line in for another round.

import { createInterface } from "node:readline";

export const sentAnnotation = "bench.keelson.dev/sent";

export type Said =
  /** Every object has been looked at once, so long after the start. */
  | { readonly type: "started"; readonly ms: number }
  /** Every cached object has been looked at again; what the heap holds then. */
  | { readonly type: "again"; readonly ms: number; readonly heapBytes: number }
  /** A change that was sent at a time of the wall clock is being looked at. */
  | { readonly type: "late"; readonly sent: string; readonly at: number };

export function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

/** Calls back for each line that comes. */
export function onLine(callback: () => void): void {
  createInterface(process.stdin).on("line", callback);
}

/** What the heap holds after everything that can go has gone. */
export function heapBytes(): number {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error("run with --expose-gc");
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The time of the wall clock, finer than a millisecond. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
