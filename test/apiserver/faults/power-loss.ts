// A disk that keeps only what it was told to keep: a shim in the server remembers, and afterwards the rest is undone.

import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

const headBytes = 32;

/** The shim for programs that write below `watched`, compiled into `folder`. */
export function compileShim(folder: string): string {
  const library = join(folder, "unsynced.so");
  const source = join(import.meta.dirname, "unsynced.c");
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  return library;
}

export function shimEnvironment({
  library,
  watched,
  log,
}: {
  readonly library: string;
  readonly watched: string;
  readonly log: string;
}): Record<string, string> {
  return { LD_PRELOAD: library, UNSYNCED_FOLDER: watched, UNSYNCED_LOG: log };
}

interface Undo {
  readonly path: string;
  readonly offset: number;
  readonly oldSize: number;
  readonly old: Buffer;
}

/** Takes away whatever was not synced when the process died. Answers how many writes that were. */
export function losePower(log: string): number {
  if (!existsSync(log)) return 0;
  const bytes = readFileSync(log);
  const pending = new Map<string, Undo[]>();
  for (let at = 0; at + headBytes <= bytes.length;) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    const pathLength = bytes.readUInt32LE(at + 4);
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    const oldSize = Number(bytes.readBigUInt64LE(at + 16));
    const oldLength = Number(bytes.readBigUInt64LE(at + 24));
    const path = bytes.toString("utf8", at + headBytes, at + headBytes + pathLength);
    const start = at + headBytes + pathLength;
    if (start + oldLength > bytes.length) break; // Killed while it remembered: the write has not happened.
    if (type === "S") pending.delete(path);
    else
      pending.set(path, [
        ...(pending.get(path) ?? []),
        { path, offset, oldSize, old: bytes.subarray(start, start + oldLength) },
      ]);
    at = start + oldLength;
  }
  let undone = 0;
  for (const [path, writes] of pending) {
    // What many processes share in memory is no file on the disk.
    if (path.endsWith("-shm") || !existsSync(path)) continue;
    const file = openSync(path, "r+");
    for (const { offset, oldSize, old } of writes.toReversed()) {
      if (old.length > 0) writeSync(file, old, 0, old.length, offset);
      ftruncateSync(file, oldSize);
      undone += 1;
    }
    closeSync(file);
  }
  rmSync(log);
  return undone;
}
