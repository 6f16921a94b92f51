// `keelson` in a process of its own, as everybody here starts it.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onAbort } from "@keelson/base";
import { endsWithUs } from "../tools/ends-with-us.ts";

/** The executable of this checkout. */
export const entry = fileURLToPath(
  new URL("../../packages/keelson/bin/keelson.js", import.meta.url),
);

export interface SpawnOptions {
  readonly cwd: string;
  /** Besides `PATH`, all that it knows of ours. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The user that runs it; ours unless told. */
  readonly uid?: number | undefined;
  /** Another executable than that of this checkout. */
  readonly entry?: string | undefined;
  /** Whether it is out of reach of what a terminal sends to us. */
  readonly isDetached?: boolean | undefined;
}

/** How a command ended, and everything it said. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, one after the other. */
  readonly output: string;
}

/** Starts it with these words. */
export function spawnKeelson(
  words: readonly string[],
  options: SpawnOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  const { cwd, environment, uid, isDetached = false } = options;
  return endsWithUs(
    spawn(process.execPath, [options.entry ?? entry, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd,
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      detached: isDetached,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
}

/** Runs a command to its end, whatever that is. It is killed, and this rejects, once `signal` aborts. */
export async function runKeelson(
  words: readonly string[],
  options: SpawnOptions,
  signal: AbortSignal,
): Promise<Run> {
  signal.throwIfAborted();
  const child = spawnKeelson(words, options);
  using _killed = onAbort(signal, () => child.kill("SIGKILL"));
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  signal.throwIfAborted();
  return { code, stdout, stderr, output: stdout + stderr };
}
