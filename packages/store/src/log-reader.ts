// Reads the log for watchers that are not level with the hub. Watchers share what is read.

import type { Backend } from "./backend.ts";
import { Change } from "./change.ts";
import { Expired } from "./errors.ts";
import { LogPages, type PageName, type Stretch } from "./log-pages.ts";
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
  readonly #pages: LogPages;

  constructor(options: {
    readonly backend: Pick<Backend, "log">;
    readonly limits: LogReaderLimits;
    readonly cursor: Revision;
  }) {
    this.#backend = options.backend;
    this.#limits = options.limits;
    this.#recentAfter = options.cursor;
    this.#recentThrough = options.cursor;
    const keptMax = options.limits.pagesMax;
    this.#pages = new LogPages({ read: (page) => this.#read(page), keptMax });
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
      // Pages begin and end where all watchers meet, and end where memory begins.
      const boundary = start - (start % pageChanges) + pageChanges;
      const through = Math.min(boundary, this.#recentAfter);
      try {
        const page = await this.#pages.get({ after: start, through }, signal);
        if (page.through > revision) {
          const changes = page.changes.slice(firstAfter(page.changes, revision));
          return { changes, through: page.through };
        }
        start = page.through;
      } catch (error) {
        if (!(error instanceof Expired)) throw error;
        // The floor may stand between the start of the page and what is wanted of it.
        if (error.floor > revision) throw new Expired(revision, error.floor);
        start = error.floor;
      }
    }
  }

  #fromRecent(revision: Revision): Stretch {
    const first = firstAfter(this.#recent, revision);
    const changes = this.#recent.slice(first, first + this.#limits.pageChanges);
    const isAll = first + changes.length === this.#recent.length;
    const through = isAll ? this.#recentThrough : (changes.at(-1)?.revision ?? revision);
    return { changes, through: Math.max(through, revision) };
  }

  /** Without a caller's signal: the page is for whoever wants it. */
  async #read({ after, through }: PageName): Promise<Stretch> {
    const { pageChanges: entries, pageText: text } = this.#limits;
    const limits = { entries, text, through };
    const page = await this.#backend.log(after, limits, new AbortController().signal);
    // All of it was published, so the database went back in time: what was here never was. A page that leads
    // nowhere must not be kept either: whoever asks for it would ask again in the same turn, for ever.
    if (page.through <= after) throw new Expired(after, through);
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
