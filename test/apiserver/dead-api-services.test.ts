// Cases that disturb the controllers of a real server, each beside no other.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { oracleTest } from "../oracle/oracle-test.ts";
import { deadApiServiceCases as cases } from "./cases/api-services.ts";
import { compareRecordings, describe } from "./differences.ts";
import { drivers, startOurs } from "./ours.ts";
import { brokenIn, runCases } from "./run-cases.ts";
import { startReference } from "./target.ts";

suite("dead APIServices", () => {
  oracleTest("are shown as by the real server, on SQLite and on PostgreSQL", async (t) => {
    const { signal } = t;
    await using reference = await startReference(signal);
    const oracle = await runCases(reference, cases, { signal });
    assert.deepEqual(brokenIn(oracle), []);
    for (const driver of drivers) {
      await using ours = await startOurs({ driver }, signal);
      const compared = compareRecordings(cases, oracle, await runCases(ours, cases, { signal }));
      assert.deepEqual(compared.unexplained.map(describe), [], driver);
    }
  });
});
