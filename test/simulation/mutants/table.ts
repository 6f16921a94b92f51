// All planted bugs.

import type { Mutant } from "./mutant.ts";
import { onPostgres } from "./postgres.ts";
import { simulatedState } from "./simulated-state.ts";
import { simulatedWatches } from "./simulated-watches.ts";

export const mutants: readonly Mutant[] = [...simulatedState, ...simulatedWatches, ...onPostgres];
