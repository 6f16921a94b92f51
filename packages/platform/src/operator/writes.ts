// What was written for whom, until somebody asks.

export class Writes {
  readonly #written = new Map<string, Set<string>>();

  note(uid: string, name: string): void {
    const names = this.#written.get(uid) ?? new Set();
    names.add(name);
    this.#written.set(uid, names);
  }

  take(uid: string): readonly string[] {
    const names = this.#written.get(uid);
    this.#written.delete(uid);
    return [...(names ?? [])];
  }
}
