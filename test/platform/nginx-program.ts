// nginx: the machine's own, or Debian's package, kept in the cache.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../oracle/programs.ts";

const installed = "/usr/sbin/nginx";

/** The program, or why there is none. */
export function findNginx(): { readonly program: string } | { readonly missing: string } {
  const program = [installed, join(folder(), installed)].find((path) => existsSync(path));
  if (program === undefined) {
    return { missing: "there is no nginx here (node test/platform/prepare.ts fetches Debian's)" };
  }
  // Unpacked, not installed: a machine may lack a library that it needs.
  const { status } = spawnSync(program, ["-v"], { stdio: "ignore" });
  return status === 0 ? { program } : { missing: `${program} does not run here` };
}

/** Fetches the package, if there is no nginx yet. Nothing is installed: it is unpacked beside the other programs. */
export function fetchNginx(): void {
  if ("program" in findNginx()) return;
  mkdirSync(folder(), { recursive: true });
  const options = { cwd: folder(), stdio: "ignore", timeout: 180_000 } as const;
  try {
    execFileSync("apt-get", ["download", "nginx"], options);
  } catch {
    // A bare machine may not know yet which packages there are.
    execFileSync("apt-get", ["update"], options);
    execFileSync("apt-get", ["download", "nginx"], options);
  }
  const [archive] = globSync(`${folder()}/nginx_*.deb`);
  if (archive !== undefined) execFileSync("dpkg", ["-x", archive, folder()], options);
}

function folder(): string {
  return join(dirname(cacheFolder()), "nginx");
}
