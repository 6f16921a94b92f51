// Our server and the real one, asked the same things. `node test/apiserver/differential.ts` repeats some of them by hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";

import { oracleTest } from "../oracle/oracle-test.ts";
import { allCases, seed } from "./all-cases.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { coverageTable } from "./coverage.ts";
import { compareRecordings, describe, type Comparison } from "./differences.ts";
import { startOurs } from "./ours.ts";
import { brokenIn, runCases, type Recording } from "./run-cases.ts";
import { startReference } from "./target.ts";

/** Every so many-th case tells whether the comparison itself is fair. */
const sampleEvery = 8;

suite("differential", () => {
  test("every allowed difference is a line of docs/differences.md, and the other way round", () => {
    const path = join(import.meta.dirname, "../../docs/differences.md");
    const documented = [...readFileSync(path, "utf8").matchAll(/^\| (S\d+) \|/gm)];
    assert.deepEqual(
      allowedDifferences.map(({ id }) => id),
      documented.map(([, id]) => id),
    );
  });

  oracleTest("two real servers cannot be told apart", async (t) => {
    const cases = (await allCases()).filter((_, index) => index % sampleEvery === 0);
    await using one = await startReference(t.signal);
    await using two = await startReference(t.signal);
    const [left, right] = await Promise.all(
      [one, two].map(async (target) => await runCases(target, cases, { signal: t.signal })),
    );
    const areBothReal = true;
    assertSame(compareRecordings(cases, left ?? new Map(), right ?? new Map(), { areBothReal }));
  });

  oracleTest("ours cannot be told from the real one, on SQLite and on PostgreSQL", async (t) => {
    const cases = await allCases();
    t.diagnostic(`seed ${seed}`);
    const record = async (): Promise<Recording> => {
      await using reference = await startReference(t.signal);
      return await runCases(reference, cases, { signal: t.signal });
    };
    const recordOurs = async (driver: "sqlite" | "postgresql"): Promise<Recording> => {
      await using ours = await startOurs({ driver }, t.signal);
      return await runCases(ours, cases, { signal: t.signal });
    };
    const [oracle, sqlite] = await Promise.all([record(), recordOurs("sqlite")]);
    const postgresql = await recordOurs("postgresql");
    t.diagnostic(coverageTable(oracle));
    assert.deepEqual(brokenIn(oracle), []);
    const comparisons = {
      sqlite: compareRecordings(cases, oracle, sqlite),
      postgresql: compareRecordings(cases, oracle, postgresql),
    };
    for (const [driver, { cases, steps, explained, unexplained }] of Object.entries(comparisons)) {
      const allowed = [...explained].map(([id, count]) => `${id}: ${count}`).join(", ");
      t.diagnostic(
        `${driver}: ${cases} cases, ${steps} steps; allowed differences: ${allowed || "none"}; ` +
          `cases that differ and should not: ${unexplained.length}`,
      );
    }
    assertSame(comparisons.sqlite);
    assertSame(comparisons.postgresql);
  });
});

/** Nothing differs but what is meant to. */
function assertSame({ unexplained, cases }: Comparison): void {
  const shown = unexplained.slice(0, 20).map(describe).join("\n\n");
  assert.equal(unexplained.length, 0, `${unexplained.length} of ${cases} cases differ\n${shown}`);
}
