// zsh and fish: the machine's own, or Debian's packages, kept in the cache.

import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../oracle/programs.ts";
import { fetchPackages } from "../tools/debian-packages.ts";

export interface ShellProgram {
  readonly program: string;
  /** What it needs besides where it was unpacked and not installed. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its modules are, likewise. */
  readonly modules: string | undefined;
}

const packages = ["zsh", "zsh-common", "fish", "fish-common", "libpcre2-32-0"];

/** The program, or why there is none. Fetches it once; nothing is installed. */
export function findShell(name: "zsh" | "fish"): ShellProgram | { readonly missing: string } {
  const own = spawnSync(name, ["-c", "true"], { stdio: "ignore" });
  if (own.status === 0) return { program: name, env: {}, modules: undefined };
  const folder = join(dirname(cacheFolder()), "shells");
  try {
    fetchPackages(folder, packages, () => existsSync(join(folder, "usr/bin/fish")));
  } catch (error) {
    return {
      missing: `there is no ${name} here, and none can be had: ${(error as Error).message}`,
    };
  }
  const [program] = globSync(`${folder}/{usr/,}bin/${name}`);
  const [library] = globSync(`${folder}/usr/lib/*/libpcre2-32.so.0`);
  const [modules] = globSync(`${folder}/usr/lib/*/zsh/*/zsh`);
  if (program === undefined) return { missing: `the package has no ${name}` };
  const env = library === undefined ? {} : { LD_LIBRARY_PATH: dirname(library) };
  return { program, env, modules: modules === undefined ? undefined : dirname(modules) };
}
