// Packages of Debian, unpacked beside the other programs in the cache. Nothing is installed.

import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const waitSeconds = 180;

/**
 * Fetches the packages and unpacks them into `folder`, unless what is wanted of them is there. It is there only once all is. Suites that
 * begin at once may each want some, or the same: apt does one thing at a time, and refuses everybody else.
 */
export function fetchPackages(
  folder: string,
  packages: readonly string[],
  isThere: () => boolean,
): void {
  if (isThere()) return;
  const cache = dirname(folder);
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const options = { cwd: draft, stdio: "ignore", timeout: 2_000 * waitSeconds } as const;
  const apt = (...words: readonly string[]): void => {
    const inTurn = ["--wait", String(waitSeconds), join(cache, "apt.lock")];
    execFileSync("flock", [...inTurn, "apt-get", ...words], options);
  };
  try {
    try {
      apt("download", ...packages);
    } catch {
      // A bare machine may not know yet which packages there are.
      apt("update");
      apt("download", ...packages);
    }
    for (const archive of globSync(`${draft}/*.deb`)) {
      execFileSync("dpkg", ["-x", archive, draft], options);
    }
    if (isThere()) return; // Somebody was faster, and may use it already.
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
