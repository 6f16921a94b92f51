#!/usr/bin/env node
// npm run sim -- --seed N --rounds M [--backend sqlite|postgresql] [--kill]

import { parseArgs } from "node:util";
import { checkHistory, type Verdict } from "./checker.ts";
import type { History } from "./history.ts";
import { disturbPostgres } from "./processes/postgres-rounds.ts";
import { killSqliteServers } from "./processes/sqlite-rounds.ts";
import { type Counts, countsOf, explain } from "./report.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "20" },
    backend: { type: "string", default: "sqlite" },
    /** On SQLite: real processes that are killed, instead of the seeded world. */
    kill: { type: "boolean", default: false },
  },
});

const { seed, backend, kill } = values;
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || !["sqlite", "postgresql"].includes(backend)) {
  console.error("npm run sim -- --seed N --rounds M [--backend sqlite|postgresql] [--kill]");
  process.exit(2);
}

let failed = 0;
let total: Counts = { calls: 0, changes: 0, watches: 0, items: 0 };

function report(run: { seed: string; history: History; verdicts: readonly Verdict[] }): void {
  const counts = countsOf(run.history);
  total = {
    calls: total.calls + counts.calls,
    changes: total.changes + counts.changes,
    watches: total.watches + counts.watches,
    items: total.items + counts.items,
  };
  if (run.verdicts.length === 0) return;
  failed += 1;
  // Rounds in a seeded world have seeds of their own.
  const again = backend === "sqlite" && !kill ? 1 : rounds;
  console.log(explain(run, { backend: kill ? "sqlite --kill" : backend, rounds: again }));
}

if (backend === "sqlite" && !kill) {
  for (let round = 1; round <= rounds; round++) {
    report(await simulate({ seed: round === 1 ? seed : `${seed}.${round}` }));
  }
} else {
  // Real processes: the seed decides what is done to them, not what comes of it.
  const history =
    backend === "sqlite"
      ? await killSqliteServers({ seed, rounds })
      : await disturbPostgres({ seed, rounds, flavour: "embedded", replicas: 3 });
  report({ seed, history, verdicts: checkHistory(history) });
}

const { calls, changes, watches, items } = total;
console.log(`seed ${seed}, ${rounds} rounds on ${backend}${kill ? " with kills" : ""}`);
console.log(`${calls} calls, ${changes} changes, ${watches} watches that carried ${items} items`);
console.log(failed === 0 ? "every invariant holds" : `${failed} runs broke an invariant`);
process.exit(failed === 0 ? 0 : 1);
