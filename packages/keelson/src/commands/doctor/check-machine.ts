// The programs and the clock of this machine.

import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { failed, ok, warning, type Finding } from "./finding.ts";

const answerMsMax = 10_000;

export function checkNode(): Finding {
  // An older one would not have come this far.
  return ok("Node", `${process.versions.node} at ${process.execPath}`);
}

export async function checkKubectl(path: string | undefined): Promise<Finding> {
  const env = path === undefined ? {} : { PATH: path };
  try {
    const words = ["version", "--client", "-o", "json"];
    const options = { timeout: answerMsMax, env };
    const { stdout } = await promisify(execFile)("kubectl", words, options);
    const told = JSON.parse(stdout) as {
      readonly clientVersion?: { readonly gitVersion?: string };
    };
    return ok("kubectl", told.clientVersion?.gitVersion ?? "of a version that it does not tell");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const found = code === "ENOENT" ? "is not on the PATH" : `does not run (${String(code)})`;
    const fix = "install it to look into clusters by hand; Keelson itself does without it";
    return warning("kubectl", found, fix);
  }
}

/** How far it may be off what others say before certificates and leases suffer. */
const skewMsMax = 5_000;

/** Compares it with files that cannot be younger than now, and with the clock of the database where there is one. */
export async function checkClock(
  nowMs: number,
  others: readonly { readonly whose: string; readonly atMs: number }[],
): Promise<Finding> {
  const shown = new Date(nowMs).toISOString();
  const installed = await stat(new URL("../../../package.json", import.meta.url));
  const behindMs = installed.mtimeMs - nowMs;
  const fix = "set it, or have it set: timedatectl set-ntp true";
  if (behindMs > skewMsMax) {
    return failed("clock", `${shown} is before Keelson was installed`, fix);
  }
  const far = others.find(({ atMs }) => Math.abs(atMs - nowMs) > skewMsMax);
  if (far !== undefined) {
    const seconds = Math.round((far.atMs - nowMs) / 1_000);
    return failed("clock", `${shown}, and ${far.whose} is ${seconds} s off it`, fix);
  }
  return ok("clock", shown);
}
