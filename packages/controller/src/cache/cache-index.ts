/** Keys by values. Each key may be under several values; most are under one, most values hold few. */
export class Index {
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, readonly string[]>();

  /** The keys under a value. */
  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  /** From now on `key` is under these values and no others. */
  put(key: string, values: readonly string[]): void {
    const before = this.#values.get(key);
    if (before !== undefined) {
      if (areEqual(before, values)) return;
      for (const value of before) this.#take(value, key);
    }
    if (values.length === 0) {
      this.#values.delete(key);
      return;
    }
    this.#values.set(key, values);
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  #take(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) return;
    keys.delete(key);
    if (keys.size === 0) this.#keys.delete(value);
  }
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
