import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { checkHistory } from "../../simulation/checker.ts";
import type { History } from "../../simulation/history.ts";
import { countsOf, explain } from "../../simulation/report.ts";

/** The checker finds nothing, and there was something to find it in. */
export function assertClean(t: TestContext, history: History, seed: string): void {
  t.diagnostic(JSON.stringify(countsOf(history)));
  const verdicts = checkHistory(history);
  if (verdicts.length > 0) {
    const file = join(mkdtempSync(join(tmpdir(), "keelson-history-")), "history.json");
    writeFileSync(file, JSON.stringify({ seed, verdicts, ...history }));
    const said = explain({ seed, history, verdicts }, { backend: "http" });
    assert.fail(`${said}\nall of it: ${file}`);
  }
  assert.ok(countsOf(history).changes > 100, "too little happened");
}
