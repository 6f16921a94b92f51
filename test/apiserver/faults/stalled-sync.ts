// A disk that is slow now and then: a shim in the server lets some of its syncs take long.

import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The shim, compiled into `folder`. */
export function compileStall(folder: string): string {
  const library = join(folder, "stalled-sync.so");
  const source = join(import.meta.dirname, "stalled-sync.c");
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]);
  return library;
}

export function stallEnvironment(
  library: string,
  { share, ms }: { readonly share: number; readonly ms: number },
): Record<string, string> {
  return { LD_PRELOAD: library, STALL_SHARE: String(share), STALL_MS: String(ms) };
}
