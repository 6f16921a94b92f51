// The history checker of the store, through HTTP: kill -9 of the real process, a PostgreSQL that restarts.
// KEELSON_TEST_ROUNDS and KEELSON_TEST_SEED choose how often and when.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { checkHistory } from "../simulation/checker.ts";
import type { History } from "../simulation/history.ts";
import { countsOf, explain } from "../simulation/report.ts";
import { disturbOverHttp, killOverHttp } from "./history/rounds.ts";

const rounds = Number(process.env["KEELSON_TEST_ROUNDS"] ?? 4);
const seed = process.env["KEELSON_TEST_SEED"] ?? "history";

suite(`histories over HTTP, ${rounds} rounds, seed ${seed}`, () => {
  test("a server on SQLite is killed under load: nothing acknowledged is lost, no change missed or told twice", async (t) => {
    const history = await killOverHttp({ seed, rounds }, t.signal);
    t.diagnostic(JSON.stringify(countsOf(history)));
    assertClean(history);
  });

  test("two replicas on a PostgreSQL that restarts, with commits that stall", async (t) => {
    const history = await disturbOverHttp({ seed, rounds: Math.max(2, rounds / 2) }, t.signal);
    t.diagnostic(JSON.stringify(countsOf(history)));
    assertClean(history);
  });
});

function assertClean(history: History): void {
  const verdicts = checkHistory(history);
  assert.equal(verdicts.length, 0, explain({ seed, history, verdicts }, { backend: "http" }));
  assert.ok(countsOf(history).changes > 100, "too little happened");
}
