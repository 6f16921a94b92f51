// moto, a server that answers as AWS does: from PyPI, unpacked once for all checkouts of this user.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildLock } from "../tools/build-lock.ts";
import { cacheFolder } from "../oracle/programs.ts";

/** Each package that it needs, at its version. */
const requirements = join(import.meta.dirname, "moto-requirements.txt");

/** Where its packages are, or why there are none. */
export function findMoto(): { readonly packages: string } | { readonly missing: string } {
  if (!existsSync(packagesFolder())) {
    return { missing: "there is no moto here (node test/platform/prepare.ts fetches it)" };
  }
  return hasPython() ? { packages: packagesFolder() } : { missing: withoutPython };
}

/** Fetches it, if that was not done yet. It appears under its name only when it is complete. */
export async function fetchMoto(signal: AbortSignal): Promise<void> {
  if (existsSync(packagesFolder())) return;
  if (!hasPython()) throw new Error(withoutPython);
  mkdirSync(folder(), { recursive: true });
  using _lock = await BuildLock.acquire(join(folder(), "build.lock"), signal);
  if (existsSync(packagesFolder())) return;
  const draft = join(folder(), "partial");
  rmSync(draft, { recursive: true, force: true });
  console.error("fetching moto");
  const flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
  const what = ["--target", draft, "--requirement", requirements];
  const options = { stdio: "pipe", timeout: 300_000 } as const;
  execFileSync("python3", ["-m", "pip", "install", ...flags, ...what], options);
  renameSync(draft, packagesFolder());
}

const withoutPython = "moto needs python3 with pip, and there is none here";

function hasPython(): boolean {
  return spawnSync("python3", ["-m", "pip", "--version"], { stdio: "ignore" }).status === 0;
}

function packagesFolder(): string {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  return join(folder(), hash);
}

function folder(): string {
  return join(dirname(cacheFolder()), "moto");
}
