/** Remembers the last `capacity` keys that were set; the one that was not set for longest goes first. */
export class Recent<Value> {
  readonly #capacity: number;
  readonly #values = new Map<string, Value>();

  constructor({ capacity }: { readonly capacity: number }) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#capacity) return;
    const [oldest] = this.#values.keys();
    if (oldest !== undefined) this.#values.delete(oldest);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
