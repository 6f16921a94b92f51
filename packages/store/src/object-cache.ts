// The most recently used objects, in memory. Who may trust it is decided in store.ts.

import type { Row } from "./backend.ts";
import type { Body } from "./body.ts";
import type { Change } from "./change.ts";
import { decoded, storedBody } from "./columns.ts";
import { type Key, keyText } from "./key.ts";
import type { Revision } from "./revision.ts";

/** An object as text: most are only passed on, and values that are kept cost the collector more than reading one again. */
interface Entry {
  readonly key: Key;
  readonly uid: string;
  readonly revision: Revision;
  readonly object: string;
  readonly bytes: number;
}

/** Holds objects as of the hub's cursor, up to a number of bytes; the least recently used go first. */
export class ObjectCache {
  readonly #bytesMax: number;
  /** In order of use: a Map remembers insertion. */
  readonly #rows = new Map<string, Entry>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: Key): Row | undefined {
    const text = keyText(key);
    const entry = this.#rows.get(text);
    if (entry === undefined) return undefined;
    this.#rows.delete(text);
    this.#rows.set(text, entry);
    const { key: own, uid, revision, object } = entry;
    return { key: own, uid, revision, body: storedBody(own, object) };
  }

  /** The revision of an object that is here. */
  revisionOf(key: Key): Revision | undefined {
    return this.#rows.get(keyText(key))?.revision;
  }

  /** Takes a row in, unless a newer one is there. */
  put(row: Row): void {
    const text = keyText(row.key);
    const present = this.#rows.get(text);
    if (present !== undefined && present.revision >= row.revision) return;
    this.#remove(text);
    const { key, uid, revision } = row;
    const object = row.body.text;
    const bytes = object.length * 2 + 256;
    if (bytes > this.#bytesMax / 8) return; // One giant must not empty the cache.
    this.#rows.set(text, { key, uid, revision, object, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#forgetOldest();
  }

  apply({ type, key, uid, revision, body }: Change): void {
    if (type === "DELETED" || !isWhole(body)) this.#remove(keyText(key));
    else this.put({ key, uid, revision, body });
  }

  clear(): void {
    this.#rows.clear();
    this.#bytes = 0;
  }

  #forgetOldest(): void {
    // Some more than must go: a Map finds its oldest entry by passing all those that were removed before it.
    const bytesLeft = this.#bytesMax - this.#bytesMax / 16;
    for (const oldest of this.#rows.keys()) {
      if (this.#bytes <= bytesLeft) break;
      this.#remove(oldest);
    }
  }

  #remove(text: string): void {
    const entry = this.#rows.get(text);
    if (entry === undefined) return;
    this.#rows.delete(text);
    this.#bytes -= entry.bytes;
  }
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
