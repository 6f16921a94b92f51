// Follows files that others change: by looking, because a watch of the file system misses mounted secrets,
// which change by a link that moves.

import { stat } from "node:fs/promises";
import { isCancellation, type Clock } from "@keelson/base";

/** How often files are looked at. */
export const lookIntervalMs = 2_000;

/** Some files as they were at one moment. Look first, read then: a change in between is not missed. */
export class FollowedFiles {
  readonly #paths: readonly string[];
  #last: string;

  private constructor(paths: readonly string[], last: string) {
    this.#paths = paths;
    this.#last = last;
  }

  static async look(paths: readonly string[]): Promise<FollowedFiles> {
    return new FollowedFiles(paths, await fingerprint(paths));
  }

  /**
   * Calls `onChange`, one call at a time, after any of the files has changed, appeared or gone, until `signal`
   * aborts. Changes between two looks are one change.
   */
  async follow(onChange: () => Promise<void>, clock: Clock, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(lookIntervalMs, signal);
        const now = await fingerprint(this.#paths);
        if (now === this.#last) continue;
        this.#last = now;
        await onChange();
      }
    } catch (error) {
      if (!isCancellation(error, signal)) throw error;
    }
  }
}

async function fingerprint(paths: readonly string[]): Promise<string> {
  const marks = paths.map(async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    if (found === undefined) return "none";
    return `${found.ino}/${found.size}/${found.mtimeNs}/${found.ctimeNs}`;
  });
  return (await Promise.all(marks)).join(" ");
}
