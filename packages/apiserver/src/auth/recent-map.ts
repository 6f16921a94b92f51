// A bounded memory of what was looked up last.

import { LinkedList, type Place } from "@keelson/base";

interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
}

/** A map of at most `sizeMax` entries; a new one beyond that takes the place of the one not asked for longest. */
export class RecentMap<K, V> {
  readonly #places = new Map<K, Place<Entry<K, V>>>();
  /** In order of use, beside the map: every request asks, and a map that entries leave and enter is made anew all the time. */
  readonly #used = new LinkedList<Entry<K, V>>();
  readonly #sizeMax: number;

  constructor({ sizeMax }: { readonly sizeMax: number }) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#places.size;
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    this.#used.moveToEnd(place);
    return place.value.value;
  }

  set(key: K, value: V): void {
    const present = this.#places.get(key);
    if (present !== undefined) this.#used.remove(present);
    this.#places.set(key, this.#used.push({ key, value }));
    if (this.#places.size <= this.#sizeMax) return;
    const oldest = this.#used.shift();
    if (oldest !== undefined) this.#places.delete(oldest.value.key);
  }
}
