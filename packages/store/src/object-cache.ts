// The most recently used objects, in memory. Who may trust it is decided in object-reads.ts.

import { LinkedList, type Place } from "@keelson/base";
import type { Row } from "./backend.ts";
import type { Body } from "./body.ts";
import type { Change } from "./change.ts";
import { decoded, storedBody } from "./columns.ts";
import { type Key, keyText } from "./key.ts";
import type { Revision } from "./revision.ts";

/** An object as text: most are only passed on, and values that are kept cost the collector more than reading one again. */
interface Entry {
  readonly text: string;
  readonly key: Key;
  readonly uid: string;
  readonly revision: Revision;
  readonly object: string;
  readonly bytes: number;
}

/** How much of a full cache is emptied at once. */
const spareShare = 1 / 16;

/** Holds objects as of the hub's cursor, up to a number of bytes; the least recently used go first. */
export class ObjectCache {
  readonly #bytesMax: number;
  readonly #rows = new Map<string, Place<Entry>>();
  /** In order of use. */
  readonly #used = new LinkedList<Entry>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: Key): Row | undefined {
    const place = this.#rows.get(keyText(key));
    if (place === undefined) return undefined;
    this.#used.moveToEnd(place);
    const { key: own, uid, revision, object } = place.value;
    return { key: own, uid, revision, body: storedBody(own, object) };
  }

  /** The object if it is here, without counting as a use: a list must not decide what stays. */
  peek(key: Key): Row | undefined {
    const place = this.#rows.get(keyText(key));
    if (place === undefined) return undefined;
    const { key: own, uid, revision, object } = place.value;
    return { key: own, uid, revision, body: storedBody(own, object) };
  }

  /** Takes in what there is room for, as of the hub's cursor: nothing goes for it. */
  fill(rows: readonly Row[]): void {
    for (const row of rows) {
      // As much is left as is gained by forgetting, so that lists and reads do not take turns in filling it.
      if (this.#bytes + bytesOf(row.body.text) > this.#bytesMax * (1 - spareShare)) return;
      if (!this.#rows.has(keyText(row.key))) this.put(row);
    }
  }

  /** The revision of an object that is here. */
  revisionOf(key: Key): Revision | undefined {
    return this.#rows.get(keyText(key))?.value.revision;
  }

  /** Takes a row in, unless a newer one is there. */
  put(row: Row): void {
    const text = keyText(row.key);
    const present = this.#rows.get(text);
    if (present !== undefined && present.value.revision >= row.revision) return;
    const { key, uid, revision } = row;
    const object = row.body.text;
    const bytes = bytesOf(object);
    // One giant must not empty the cache.
    if (bytes > this.#bytesMax / 8) {
      this.#remove(text);
      return;
    }
    if (present !== undefined) this.#release(present);
    this.#rows.set(text, this.#used.push({ text, key, uid, revision, object, bytes }));
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#forgetOldest();
  }

  apply({ type, key, uid, revision, body }: Change): void {
    if (type === "DELETED" || !isWhole(body)) this.#remove(keyText(key));
    else this.put({ key, uid, revision, body });
  }

  clear(): void {
    for (const { text } of this.#used) this.#remove(text);
  }

  #forgetOldest(): void {
    const bytesLeft = this.#bytesMax * (1 - spareShare);
    for (const { text } of this.#used) {
      if (this.#bytes <= bytesLeft) break;
      this.#remove(text);
    }
  }

  #remove(text: string): void {
    const place = this.#rows.get(text);
    if (place === undefined) return;
    this.#rows.delete(text);
    this.#release(place);
  }

  #release(place: Place<Entry>): void {
    this.#used.remove(place);
    this.#bytes -= place.value.bytes;
  }
}

/** About what an entry takes, its key and its place included. */
function bytesOf(object: string): number {
  // A string of Latin letters has one byte for each, any other two.
  const isNarrow = Buffer.byteLength(object) === object.length;
  return object.length * (isNarrow ? 1 : 2) + 512;
}

/** An entry of the log may be damaged; reads then go to the table, and fail there if they must. */
function isWhole(body: Body): boolean {
  try {
    decoded(body);
    return true;
  } catch {
    return false;
  }
}
