// Reads the log for watchers that are not level with the hub. Watchers share what is read.

import { setImmediate } from "node:timers";
import type { Backend, LogPage } from "./backend.ts";
import { Change } from "./change.ts";
import type { Revision } from "./revision.ts";

export interface LogReaderLimits {
  /** Changes kept in memory behind the hub's cursor, and their bytes. */
  readonly recentChangesMax: number;
  readonly recentBytesMax: number;
  /** Pages of older log kept for watchers that resume together. */
  readonly pagesMax: number;
  /** Changes in one page; also where pages begin, so that watchers meet on the same ones. */
  readonly pageChanges: number;
  readonly pageText: number;
}

/** A stretch of the log: every change after the requested revision up to `through`. */
export interface Stretch {
  readonly changes: readonly Change[];
  readonly through: Revision;
}

/**
 * The log from memory where it is recent, from the database where it is not.
 *
 * A page of the log that is complete never changes, so it is read once however
 * many watchers resume, and kept for a while.
 */
export class LogReader {
  readonly #backend: Pick<Backend, "log">;
  readonly #limits: LogReaderLimits;
  /** Every change after `#recentAfter` up to `#recentThrough`. */
  #recent: Change[] = [];
  #recentAfter: Revision;
  #recentThrough: Revision;
  #recentBytes = 0;
  readonly #pages = new Map<Revision, Promise<Stretch>>();

  constructor(options: {
    readonly backend: Pick<Backend, "log">;
    readonly limits: LogReaderLimits;
    readonly cursor: Revision;
  }) {
    this.#backend = options.backend;
    this.#limits = options.limits;
    this.#recentAfter = options.cursor;
    this.#recentThrough = options.cursor;
  }

  /** Remembers what the hub publishes: every change after the last call's `through`. */
  append(changes: readonly Change[], through: Revision): void {
    for (const change of changes) {
      this.#recent.push(change);
      this.#recentBytes += change.bytes;
    }
    this.#recentThrough = through;
    if (
      this.#recent.length > this.#limits.recentChangesMax ||
      this.#recentBytes > this.#limits.recentBytesMax
    ) {
      this.#forgetOldest();
    }
  }

  /** Starts anew at `cursor`, after changes that nobody has read. */
  restart(cursor: Revision): void {
    this.#recent = [];
    this.#recentBytes = 0;
    this.#recentAfter = cursor;
    this.#recentThrough = cursor;
  }

  /** The changes after `revision`. Throws Expired if the log no longer reaches back to it. */
  async after(revision: Revision, signal: AbortSignal): Promise<Stretch> {
    if (revision >= this.#recentAfter) return this.#fromRecent(revision);

    const { pageChanges } = this.#limits;
    let start = revision - (revision % pageChanges);
    for (;;) {
      const page = await this.#page(start, revision, signal);
      if (page.through > revision || page.through <= start) {
        return {
          changes: page.changes.slice(firstAfter(page.changes, revision)),
          through: Math.max(page.through, revision),
        };
      }
      start = page.through;
    }
  }

  #fromRecent(revision: Revision): Stretch {
    const first = firstAfter(this.#recent, revision);
    const changes = this.#recent.slice(first, first + this.#limits.pageChanges);
    const isAll = first + changes.length === this.#recent.length;
    const through = isAll ? this.#recentThrough : (changes.at(-1)?.revision ?? revision);
    return { changes, through: Math.max(through, revision) };
  }

  /** The page that starts at `start`; if the floor has passed that, one that starts at `revision`. */
  async #page(start: Revision, revision: Revision, signal: AbortSignal): Promise<Stretch> {
    const { pageChanges } = this.#limits;
    const boundary = start - (start % pageChanges) + pageChanges;
    if (boundary >= this.#recentThrough) return this.#read(revision, undefined, signal); // It may still grow.
    const shared = this.#pages.get(start) ?? this.#share(start, boundary);
    try {
      return await shared;
    } catch (error) {
      if (this.#pages.get(start) === shared) this.#pages.delete(start);
      if (start === revision) throw error;
      return this.#read(revision, boundary, signal);
    }
  }

  /** Reads a complete page for whoever wants it; no caller's signal ends it. */
  #share(start: Revision, boundary: Revision): Promise<Stretch> {
    const page = this.#read(start, boundary, new AbortController().signal);
    this.#pages.set(start, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= this.#limits.pagesMax) break;
      this.#pages.delete(oldest);
    }
    return page;
  }

  async #read(
    after: Revision,
    through: Revision | undefined,
    signal: AbortSignal,
  ): Promise<Stretch> {
    const { pageChanges: entries, pageText: text } = this.#limits;
    const page: LogPage = await this.#backend.log(
      after,
      { entries, text, ...(through === undefined ? {} : { through }) },
      signal,
    );
    // A synchronous database would hold up everybody while a watcher reads page after page.
    await new Promise((resolve) => setImmediate(resolve));
    return { changes: page.entries.map((entry) => Change.of(entry)), through: page.through };
  }

  #forgetOldest(): void {
    // A quarter at a time: forgetting one by one would move the array at every publish.
    let count = Math.ceil(this.#recent.length / 4);
    let bytes = this.#recent.slice(0, count).reduce((sum, change) => sum + change.bytes, 0);
    while (this.#recentBytes - bytes > this.#limits.recentBytesMax && count < this.#recent.length) {
      bytes += this.#recent[count]?.bytes ?? 0;
      count += 1;
    }
    const last = this.#recent[count - 1];
    if (last === undefined) return;
    this.#recent = this.#recent.slice(count);
    this.#recentAfter = last.revision;
    this.#recentBytes = this.#recent.reduce((sum, change) => sum + change.bytes, 0);
  }
}

/** The index of the first change after `revision`, in a list in order. */
function firstAfter(changes: readonly Change[], revision: Revision): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle]?.revision ?? 0) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
