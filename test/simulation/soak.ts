#!/usr/bin/env node
// npm run soak -- --minutes N: every kind of run, one after the other, until the time is up; the result goes to docs/simulation.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, systemRandom } from "@keelson/base";
import { systemPostgresFound } from "@keelson/database/testing";
import { checkHistory } from "./checker.ts";
import type { History } from "./history.ts";
import { disturbPostgres } from "./processes/postgres-rounds.ts";
import { killSqliteServers } from "./processes/sqlite-rounds.ts";
import { countsOf, explain } from "./report.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error("npm run soak -- --minutes N [--seed N]");
  process.exit(2);
}
const seed = values.seed ?? systemRandom.uuid().slice(0, 8);

interface Line {
  readonly name: string;
  readonly backend: string;
  readonly run: (seed: string) => Promise<{ readonly history: History; readonly rounds: number }>;
  runs: number;
  rounds: number;
  calls: number;
  changes: number;
  items: number;
  broken: number;
}

function line(name: string, backend: string, run: Line["run"]): Line {
  return { name, backend, run, runs: 0, rounds: 0, calls: 0, changes: 0, items: 0, broken: 0 };
}

const replicas = (flavour: "embedded" | "system", count: number): Line =>
  line(`${count} replicas on PostgreSQL (${flavour})`, "postgresql", async (seed) => {
    const rounds = 12;
    return { rounds, history: await disturbPostgres({ seed, rounds, flavour, replicas: count }) };
  });

/** The seeded world is cheap: it gets many turns for each of the others. */
const lines: readonly Line[] = [
  line("seeded world on SQLite", "sqlite", async (seed) => {
    return { rounds: 1, history: (await simulate({ seed })).history };
  }),
  line("kill -9 on a SQLite file", "sqlite --kill", async (seed) => {
    return { rounds: 10, history: await killSqliteServers({ seed, rounds: 10 }) };
  }),
  replicas("embedded", 2),
  replicas("embedded", 3),
  ...((await systemPostgresFound()) ? [replicas("system", 2)] : []),
];
const turnsOfWorld = 60;

const deadline = systemClock.monotonic() + minutes * 60_000;
for (let turn = 1; systemClock.monotonic() < deadline; turn++) {
  for (const [index, line] of lines.entries()) {
    const count = index === 0 ? turnsOfWorld : 1;
    for (let i = 1; i <= count && systemClock.monotonic() < deadline; i++)
      await runOne(line, `${seed}.${turn}.${i}`);
  }
}

async function runOne(line: Line, seed: string): Promise<void> {
  const { history, rounds } = await line.run(seed);
  const verdicts = checkHistory(history);
  const { calls, changes, items } = countsOf(history);
  line.runs += 1;
  line.rounds += rounds;
  line.calls += calls;
  line.changes += changes;
  line.items += items;
  if (verdicts.length === 0) return;
  line.broken += 1;
  console.log(explain({ seed, history, verdicts }, { backend: line.backend, rounds }));
}

const day = new Date(systemClock.now()).toISOString().slice(0, 10);
const table = [
  `${day}, ${minutes} minutes, seed \`${seed}\`:`,
  "",
  "| run | runs | rounds | calls | changes | watched items | runs that broke an invariant |",
  "|---|---|---|---|---|---|---|",
  ...lines.map(
    ({ name, runs, rounds, calls, changes, items, broken }) =>
      `| ${[name, runs, rounds, calls, changes, items, broken].join(" | ")} |`,
  ),
].join("\n");
console.log(table);

const page = join(import.meta.dirname, "../../docs/simulation.md");
const [before, after] = ["<!-- soak -->", "<!-- /soak -->"];
const text = readFileSync(page, "utf8");
const [start, end] = [text.indexOf(before), text.indexOf(after)];
writeFileSync(page, `${text.slice(0, start)}${before}\n${table}\n${text.slice(end)}`);
process.exit(lines.some(({ broken }) => broken > 0) ? 1 : 0);
