// What is left to say when every stage of the gate has ended: what broke and where, what took longest, and the table of stages.
// `node test/gate/summary.ts FOLDER SECONDS NAME…` reads `stages.tsv` (name, seconds, exit code) and for each stage the record of its
// tests, NAME.jsonl, and its output, NAME.log. The names are those of the stages that have tests. It ends with 1 if anything failed or
// did not run at all, and in CI also if anything was skipped.

import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import type { Ended } from "./record.ts";

const slowestShown = 10;
const errorLinesShown = 12;
const cancelledShown = 20;
/** Of the output of a stage that failed though no test of it did. */
const outputLinesShown = 30;

export interface Stage {
  readonly name: string;
  readonly seconds: number;
  /** Undefined if it was never begun, or whoever ran it was ended. */
  readonly exitCode: number | undefined;
  /** Whether it is there to run tests. */
  readonly hasTests: boolean;
  readonly ended: readonly Ended[];
  readonly output: string;
}

interface Test extends Ended {
  readonly stage: string;
  /** The names of the suites and tests around it, and its own. */
  readonly title: string;
  /** Without the tests inside it. */
  readonly ownMs: number;
}

export function summarise(
  stages: readonly Stage[],
  {
    seconds,
    maySkip,
    root,
  }: { readonly seconds: number; readonly maySkip: boolean; readonly root: string },
): { readonly text: string; readonly isGood: boolean } {
  const tests = stages.flatMap(testsOf);
  const place = ({ file, line }: Ended): string =>
    file === undefined ? "" : `${relative(root, file)}${line === undefined ? "" : `:${line}`}`;
  const parts: string[] = [];

  const broken = tests.filter(({ error }) => error !== undefined);
  for (const test of broken.filter(({ isCancelled }) => isCancelled !== true)) {
    const lines = (test.error ?? "").split("\n").slice(0, errorLinesShown);
    parts.push(
      [
        `✖ ${test.stage}: ${test.title}`,
        `  ${place(test)}`,
        ...lines.map((line) => `  ${line}`),
      ].join("\n"),
    );
  }
  const cancelled = broken.filter(({ isCancelled }) => isCancelled === true);
  if (cancelled.length > 0) {
    const lines = cancelled.map((test) => `  ${test.stage}: ${test.title}  ${place(test)}`);
    const more = lines.length - cancelledShown;
    const rest = more > 0 ? [`  and ${more} more`] : [];
    parts.push(["not run to their end:", ...lines.slice(0, cancelledShown), ...rest].join("\n"));
  }
  for (const stage of stages) {
    const { name, output } = stage;
    const fault = faultOf(stage);
    if (
      fault === undefined ||
      broken.some(({ stage, isCancelled }) => stage === name && isCancelled !== true)
    )
      continue;
    const end = output.trimEnd().split("\n").slice(-outputLinesShown);
    parts.push(
      [`✖ ${name} ${fault}; its output ends:`, ...end.map((line) => `  ${line}`)].join("\n"),
    );
  }
  const skipped = tests.filter(({ outcome }) => outcome === "skipped");
  if (skipped.length > 0)
    parts.push(
      ["skipped:", ...skipped.map((test) => `  ${test.stage}: ${test.title}  ${place(test)}`)].join(
        "\n",
      ),
    );

  const slowest = tests.toSorted((a, b) => b.ownMs - a.ownMs).slice(0, slowestShown);
  parts.push(
    [
      "slowest tests:",
      ...slowest.map(
        (test) => `${seconds1(test.ownMs)}  ${test.stage}: ${test.title}  ${place(test)}`,
      ),
    ].join("\n"),
  );

  const counted = (stage: string, outcome: Ended["outcome"]): number =>
    tests.filter((test) => test.stage === stage && !test.isSuite && test.outcome === outcome)
      .length;
  parts.push(
    stages
      .map((stage) => {
        const { name, seconds, exitCode } = stage;
        const [ok, bad, left] = (["passed", "failed", "skipped"] as const).map((outcome) =>
          String(counted(name, outcome)).padStart(5),
        );
        const verdict = faultOf(stage) === undefined ? "ok" : `FAILED (${exitCode ?? "no end"})`;
        return `${name.padEnd(14)} ${String(seconds).padStart(5)}s  ${ok} passed ${bad} failed ${left} skipped  ${verdict}`;
      })
      .join("\n"),
  );
  const total = (outcome: Ended["outcome"]): number =>
    tests.filter((test) => !test.isSuite && test.outcome === outcome).length;
  parts.push(
    `${total("passed")} passed, ${total("failed")} failed, ${total("skipped")} skipped, in ${minutes(seconds)}`,
  );
  const isGood =
    stages.every((stage) => faultOf(stage) === undefined) && (maySkip || skipped.length === 0);
  return { text: parts.join("\n\n"), isGood };
}

/** What is wrong with a stage, whatever its exit code says; undefined if nothing is. */
function faultOf({ exitCode, hasTests, ended }: Stage): string | undefined {
  if (exitCode === undefined) return "did not run to its end";
  if (exitCode !== 0) return `ended with ${exitCode}`;
  if (ended.some(({ outcome }) => outcome === "failed")) return "ended with 0 though tests failed";
  // To the runner a pattern that finds no file is no failure.
  if (hasTests && ended.length === 0) return "ran no tests";
  return undefined;
}

function testsOf({ name: stage, ended }: Stage): readonly Test[] {
  const keyOf = (entry: string | undefined, id: number | undefined): string =>
    `${entry ?? ""} ${id ?? 0}`;
  const byKey = new Map(ended.map((one) => [keyOf(one.entry, one.id), one]));
  const insideMs = new Map<string, number>();
  for (const { entry, parentId, ms } of ended) {
    const key = keyOf(entry, parentId);
    insideMs.set(key, (insideMs.get(key) ?? 0) + ms);
  }
  const titleOf = (one: Ended): string => {
    const around = byKey.get(keyOf(one.entry, one.parentId));
    return around === undefined || around === one ? one.name : `${titleOf(around)} › ${one.name}`;
  };
  return ended.map((one) => {
    // Tests inside may have run at once: then there is nothing left of it.
    const ownMs = Math.max(0, one.ms - (insideMs.get(keyOf(one.entry, one.id)) ?? 0));
    return { ...one, stage, title: titleOf(one), ownMs };
  });
}

function seconds1(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`;
}

function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function linesOf(path: string): readonly string[] {
  return read(path)
    .split("\n")
    .filter((line) => line !== "");
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

if (import.meta.main) {
  const [folder = ".", seconds = "0", ...withTests] = process.argv.slice(2);
  const hadEnd = new Map(
    linesOf(join(folder, "stages.tsv")).map((line) => {
      const [name = "", seconds = "0", exitCode = "1"] = line.split("\t");
      return [name, { seconds: Number(seconds), exitCode: Number(exitCode) }];
    }),
  );
  const names = new Set([...hadEnd.keys(), ...withTests]);
  const stages = [...names].map((name): Stage => {
    const { seconds = 0, exitCode } = hadEnd.get(name) ?? {};
    const ended = linesOf(join(folder, `${name}.jsonl`)).map((line) => JSON.parse(line) as Ended);
    const output = read(join(folder, `${name}.log`));
    return { name, seconds, exitCode, hasTests: withTests.includes(name), ended, output };
  });
  const { text, isGood } = summarise(stages, {
    seconds: Number(seconds),
    maySkip: process.env["CI"] !== "true",
    root: join(import.meta.dirname, "../.."),
  });
  process.stdout.write(`\n${text}\n`);
  process.exitCode = isGood ? 0 : 1;
}
