// What the checker has to say: which promise was broken, and how one can see that.

export const invariants = [
  "S1",
  "S2",
  "S3",
  "S4",
  "S5",
  "S6",
  "S7",
  "S8",
  "S9",
  "S10",
  "S11",
  "S12",
  "S13",
  "S14",
  "S15",
  "S16",
  "S17",
] as const;

export type Invariant = (typeof invariants)[number];

/** A broken promise of docs/invariants.md. */
export interface Verdict {
  readonly invariant: Invariant;
  /** A sentence that can be checked against the history. */
  readonly evidence: string;
  /** Where in the history it shows. */
  readonly at: number;
}

/** Collects verdicts. */
export class Verdicts {
  readonly list: Verdict[] = [];

  add(invariant: Invariant, at: number, evidence: string): void {
    this.list.push({ invariant, evidence, at });
  }
}
