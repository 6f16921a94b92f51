#!/usr/bin/env node
// The differential cases by hand:
//
//   node test/apiserver/differential.ts [--against sqlite|postgresql|oracle] [--only REGEX] [--report FILE] [--show]
//
// `--against oracle` runs them on two real servers, which proves the normalisation and the cases themselves.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { writeJson } from "@keelson/base";

import { allCases, seed } from "./all-cases.ts";
import { coverageTable } from "./coverage.ts";
import { compareRecordings, describe } from "./differences.ts";
import { failureReport } from "./failure-report.ts";
import { startOurs } from "./ours.ts";
import { runCases } from "./run-cases.ts";
import { startReference } from "./target.ts";

const { values } = parseArgs({
  options: {
    against: { type: "string", default: "sqlite" },
    only: { type: "string", default: "" },
    report: { type: "string" },
    show: { type: "boolean", default: false },
  },
});
const signal = AbortSignal.timeout(20 * 60_000);
const wanted = new RegExp(values.only);
const cases = (await allCases()).filter(({ name }) => wanted.test(name));

await using reference = await startReference(signal);
await using ours =
  values.against === "oracle"
    ? await startReference(signal)
    : await startOurs(
        { driver: values.against === "postgresql" ? "postgresql" : "sqlite" },
        signal,
      );
const startedAt = performance.now();
const [left, right] = await Promise.all([
  runCases(reference, cases, { signal }),
  runCases(ours, cases, { signal }),
]);
if (values.show) {
  for (const [name, observations] of left) {
    console.log(name);
    for (const { step, answer, sent = "" } of observations)
      console.log(`  ${step}\n    ${sent}\n    ${writeJson(answer)}`);
  }
}
const comparison = compareRecordings(cases, left, right);
const text = comparison.unexplained.map(describe).join("\n\n");
console.log(text);
if (values.report !== undefined) {
  writeFileSync(values.report, `${failureReport(comparison.unexplained, cases.length)}\n`);
}
console.log(`\n${coverageTable(left)}\n`);
const explained = [...comparison.explained].map(([id, count]) => `${id}: ${count}`).join(", ");
console.log(
  `seed ${seed}: ${comparison.cases} cases, ${comparison.steps} steps, ${comparison.unexplained.length} cases differ; ` +
    `allowed differences: ${explained || "none"}; ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
process.exitCode = comparison.unexplained.length === 0 ? 0 : 1;
