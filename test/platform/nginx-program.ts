// nginx: the machine's own, or Debian's package, kept in the cache.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../oracle/programs.ts";
import { fetchPackages } from "../tools/debian-packages.ts";

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
  const isThere = (): boolean => "program" in findNginx();
  fetchPackages(folder(), ["nginx"], isThere);
}

function folder(): string {
  return join(dirname(cacheFolder()), "nginx");
}
