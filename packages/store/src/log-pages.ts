// Pages of the log for any number of readers: each is read once for all who want it, in the order of the log.

import { untilAbort } from "@keelson/base";
import { setImmediate } from "node:timers";
import type { Change } from "./change.ts";
import type { Revision } from "./revision.ts";

/** A stretch of the log: every change after the requested revision up to `through`. */
export interface Stretch {
  readonly changes: readonly Change[];
  readonly through: Revision;
}

/** A page: what comes after one revision, up to another that everybody has seen committed, so it never changes. */
export interface PageName {
  readonly after: Revision;
  readonly through: Revision;
}

interface Demand extends PageName {
  readonly page: Promise<Stretch>;
  readonly resolve: (page: Stretch) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads one page at a time, sweeping upwards through the pages that are wanted and beginning again at the
 * lowest. Readers that resume from a thousand places are picked up on the way and go on together, so a sweep
 * reads each page once, whatever their number; and nobody waits for more than a sweep. At any time there is
 * one page being read and at most `keptMax` kept for those who come a little later.
 */
export class LogPages {
  readonly #read: (page: PageName) => Promise<Stretch>;
  readonly #keptMax: number;
  readonly #wanted = new Map<string, Demand>();
  readonly #kept = new Map<string, Stretch>();
  #isSweeping = false;

  constructor(options: {
    readonly read: (page: PageName) => Promise<Stretch>;
    readonly keptMax: number;
  }) {
    this.#read = options.read;
    this.#keptMax = options.keptMax;
  }

  /** The page. Rejects with the signal's reason, while others go on waiting for it. */
  async get(name: PageName, signal: AbortSignal): Promise<Stretch> {
    const kept = this.#kept.get(idOf(name));
    if (kept !== undefined) return kept;
    return untilAbort(this.#demand(name).page, signal);
  }

  #demand(name: PageName): Demand {
    const known = this.#wanted.get(idOf(name));
    if (known !== undefined) return known;
    const { promise: page, resolve, reject } = Promise.withResolvers<Stretch>();
    page.catch(() => undefined); // All who wanted it may be gone by then.
    const demand = { ...name, page, resolve, reject };
    this.#wanted.set(idOf(name), demand);
    if (!this.#isSweeping) void this.#sweep();
    return demand;
  }

  /** Never rejects: a page that cannot be read is the trouble of those who want it. */
  async #sweep(): Promise<void> {
    this.#isSweeping = true;
    let place: Revision = -1; // Below all of them.
    // Those who resume in the same turn begin together.
    await endOfTurn();
    while (this.#wanted.size > 0) {
      const demand = this.#next(place);
      place = demand.after;
      try {
        const page = await this.#read(demand);
        this.#keep(demand, page);
        demand.resolve(page);
      } catch (error) {
        demand.reject(error);
      } finally {
        this.#wanted.delete(idOf(demand));
      }
      // Whoever was handed this page asks for the next one first, and joins those who wait for it.
      await endOfTurn();
    }
    this.#isSweeping = false;
  }

  /** The next page upwards from `place`; beyond the last one, the lowest. */
  #next(place: Revision): Demand {
    const wanted = [...this.#wanted.values()];
    const above = wanted.filter(({ after }) => after > place);
    return (above.length === 0 ? wanted : above).reduce((lowest, other) =>
      other.after < lowest.after ? other : lowest,
    );
  }

  #keep(name: PageName, page: Stretch): void {
    this.#kept.set(idOf(name), page);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#keptMax) break;
      this.#kept.delete(oldest);
    }
  }
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function idOf({ after, through }: PageName): string {
  return `${after}-${through}`;
}
