// libfaketime for a server: from the machine, or from Debian's package, kept in the cache.

import { existsSync, globSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { cacheFolder } from "../../oracle/programs.ts";
import { fetchPackages } from "../../tools/debian-packages.ts";

const installed = "/usr/lib/*/faketime/libfaketime.so.1";

/** The library, or why there is none. */
export function findFaketime(): { readonly library: string } | { readonly missing: string } {
  const folder = join(dirname(cacheFolder()), "faketime");
  const found = (): string | undefined =>
    [...globSync(installed), ...globSync(`${folder}${installed}`)][0];
  const already = found();
  if (already !== undefined) return { library: already };
  try {
    fetchPackages(folder, ["libfaketime"], () => found() !== undefined);
  } catch {
    // Not a Debian, or nobody answers.
  }
  const library = found();
  return library === undefined
    ? { missing: "there is no libfaketime here, and Debian's package cannot be had" }
    : { library };
}

/** The wall clock of one process; the monotonic one stays true. */
export class FakeWallClock {
  readonly #file: string;
  readonly #library: string;

  constructor(library: string, folder: string) {
    this.#library = library;
    this.#file = join(folder, "wall-clock");
    if (!existsSync(this.#file)) this.jump(0);
  }

  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DONT_RESET: "1",
    };
  }

  /** From now on it is so many seconds ahead of the truth, or behind. */
  jump(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
  }
}
