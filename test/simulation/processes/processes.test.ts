// Real processes and a real PostgreSQL, for a bounded number of rounds.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkHistory } from "../checker.ts";
import type { History } from "../history.ts";
import { countsOf, explain } from "../report.ts";
import { disturbPostgres } from "./postgres-rounds.ts";
import { killSqliteServers } from "./sqlite-rounds.ts";

suite("processes", () => {
  test("servers on a SQLite file are killed at random instants, and a second one is refused", async () => {
    const seed = "gate";
    const history = await killSqliteServers({ seed, rounds: 5 });
    hold(history, { seed, backend: "sqlite --kill", rounds: 5 });
  });

  test("two replicas on PostgreSQL: kills, restarts, stalls, deafness, cuts", async () => {
    const seed = "gate";
    const replicas = { flavour: "embedded", replicas: 2, fsync: false } as const;
    const history = await disturbPostgres({ seed, rounds: 6, ...replicas });
    hold(history, { seed, backend: "postgresql", rounds: 6 });
  });
});

function hold(
  history: History,
  { seed, ...how }: { readonly seed: string; readonly backend: string; readonly rounds: number },
): void {
  const verdicts = checkHistory(history);
  assert.deepEqual(verdicts, [], explain({ seed, history, verdicts }, how));
  const { calls, changes, items } = countsOf(history);
  assert.ok(calls > 200 && changes > 50 && items > 100, JSON.stringify({ calls, changes, items }));
}
