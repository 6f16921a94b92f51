import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { checkHistory } from "../../simulation/checker.ts";
import type { History } from "../../simulation/history.ts";
import { countsOf, explain } from "../../simulation/report.ts";

/** The checker finds nothing, and there was something to find it in. */
export function assertClean(t: TestContext, history: History, seed: string): void {
  t.diagnostic(JSON.stringify(countsOf(history)));
  const verdicts = checkHistory(history);
  assert.equal(verdicts.length, 0, explain({ seed, history, verdicts }, { backend: "http" }));
  assert.ok(countsOf(history).changes > 100, "too little happened");
}
