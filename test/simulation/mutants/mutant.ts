// Planted bugs: mistakes that one could really make, each with the promise that it breaks.

import type { Invariant } from "../checker.ts";
import type { Misfortune } from "../processes/postgres-rounds.ts";
import type { SimulationOptions } from "../simulate.ts";

export interface Mutant {
  readonly name: string;
  readonly invariant: Invariant;
  /** Where the bug shows: in a simulated run, or only on a real PostgreSQL. */
  readonly stage: "simulation" | "postgresql";
  /** For a bug that shows itself rarely: under which circumstances it does. */
  readonly circumstances?: Pick<SimulationOptions, "emphasis" | "climate" | "steps">;
  /** On PostgreSQL: what must befall it. */
  readonly misfortunes?: readonly Misfortune[];
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Below `packages/store/src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}
