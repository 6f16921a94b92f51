// One build at a time per user, whatever dies.

import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { claimName } from "./claim.ts";
import { isAlive } from "./is-alive.ts";

const pollMsDefault = 500;

/**
 * A lock that is a file with its owner's process id. It is held until disposed; if the owner dies
 * before that, the next one who wants it takes it over.
 */
export class BuildLock implements Disposable {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Waits for the lock, saying once on the terminal for whom. */
  static async acquire(
    path: string,
    signal: AbortSignal,
    { pollMs = pollMsDefault }: { readonly pollMs?: number } = {},
  ): Promise<BuildLock> {
    let announced = false;
    for (;;) {
      signal.throwIfAborted();
      if (create(path)) return new BuildLock(path);
      const owner = ownerOf(path);
      if (owner === undefined) continue; // Released in between.
      if (owner === nobody || !isAlive(owner)) {
        await removeStale(path, owner);
        continue;
      }
      if (!announced) process.stderr.write(`waiting for another build (process ${owner})\n`);
      announced = true;
      await wait(pollMs, undefined, { signal });
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { force: true });
  }
}

/** One at a time, and each looks again: the file of the dead may have gone, and that of the next come. */
async function removeStale(path: string, owner: number): Promise<void> {
  using claim = await claimName(`keelson-stale-lock-${path}`);
  if (claim !== undefined && ownerOf(path) === owner) rmSync(path, { force: true });
}

/** A link, so that the file is never there without its content. False if it is there already. */
function create(path: string): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

const nobody = 0;

/** Whose lock it is; undefined if there is none. */
function ownerOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : nobody;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
