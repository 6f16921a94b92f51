/** Names for values that differ at each run: `uid-1`, `uid-2` and so on, in the order in which they are met. Equal ones have equal names. */
export class NumberedNames {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  of(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#names.set(key, `${kind}-${count}`);
    return `${kind}-${count}`;
  }
}
