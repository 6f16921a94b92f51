// kubectl as a person has it: the oracle's, or the machine's own.

import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { programPath } from "../oracle/programs.ts";

const program = existsSync(programPath("kubectl")) ? programPath("kubectl") : "kubectl";
const isMissing = spawnSync(program, ["version", "--client"]).error !== undefined;

/** Why tests with it are skipped; false where they run. */
export const withoutKubectl: string | false = isMissing && "kubectl is not here";

/** What it prints, without the last line's end. It must succeed. */
export async function kubectl(
  kubeconfig: string,
  words: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const all = ["--kubeconfig", kubeconfig, ...words];
  const { stdout } = await promisify(execFile)(program, all, { signal });
  return stdout.trim();
}
