// How many writes of which kind and type were compared, and how they ended.

import { aligned } from "../../tools/aligned.ts";
import type { StepType } from "./steps.ts";

export type WriteType = "create" | StepType;

interface Counts {
  accepted: number;
  refused: number;
}

export class Coverage {
  readonly #counts = new Map<string, Map<WriteType, Counts>>();
  /** Writes on which the real server gave up without an answer. */
  readonly crashes: string[] = [];
  #cases = 0;
  #creations = 0;

  /** Writes of objects that are there. */
  get cases(): number {
    return this.#cases;
  }

  get creations(): number {
    return this.#creations;
  }

  /** How many of all writes the real server accepted, from 0 to 1. */
  get acceptedShare(): number {
    let accepted = 0;
    for (const types of this.#counts.values()) {
      for (const counts of types.values()) accepted += counts.accepted;
    }
    const writes = this.#cases + this.#creations;
    return writes === 0 ? 0 : accepted / writes;
  }

  count(kind: string, type: WriteType, accepted: boolean): void {
    if (type === "create") this.#creations += 1;
    else this.#cases += 1;
    let types = this.#counts.get(kind);
    if (types === undefined) this.#counts.set(kind, (types = new Map()));
    let counts = types.get(type);
    if (counts === undefined) types.set(type, (counts = { accepted: 0, refused: 0 }));
    if (accepted) counts.accepted += 1;
    else counts.refused += 1;
  }

  /** A line for each kind; accepted and refused writes of each type. */
  toString(): string {
    const types: readonly WriteType[] = ["create", "json", "merge", "strategic", "apply", "update"];
    const rows = [["kind", ...types.map((type) => `${type} (ok/refused)`)]];
    for (const [kind, byType] of [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      rows.push([
        kind,
        ...types.map((type) => {
          const counts = byType.get(type);
          return counts === undefined ? "-" : `${counts.accepted}/${counts.refused}`;
        }),
      ]);
    }
    const share = `${(this.acceptedShare * 100).toFixed(0)} % accepted`;
    const crashes = this.crashes.length === 0 ? "" : `, ${this.crashes.length} without an answer`;
    const counts = `${this.#cases} cases, ${this.#creations} creations`;
    return [aligned(rows), `${counts}, ${share}${crashes}`].join("\n");
  }
}
