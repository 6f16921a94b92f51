// Many comparisons from one seed, and what came of them.

import assert from "node:assert/strict";

import { forEachAtOnce, seededRandom, type Json, type Random } from "@keelson/base";

import { aligned } from "../tools/aligned.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { compare, describeDifference } from "./compare.ts";

const concurrencyDefault = 24;
const shownMax = 20;

/** One comparison, made. */
export interface Trial {
  /** What it was about: a row of the coverage table. */
  readonly kind: string;
  /** What was done: a column of it. */
  readonly operation: string;
  /** Whether the oracle accepted the request. */
  readonly accepted: boolean;
  /** What the oracle answered, and what our rules say; normalised. */
  readonly oracle: Json | undefined;
  readonly ours: Json | undefined;
  /** Whatever helps to understand a failure: the requests that were sent. */
  readonly context?: unknown;
}

export interface TrialOptions {
  readonly title: string;
  readonly seed: number | string;
  readonly count: number;
  /** Run this one alone: to repeat a failure. */
  readonly only?: number | undefined;
  readonly concurrency?: number;
}

export interface UnexplainedTrial {
  readonly index: number;
  readonly trial: Trial;
  readonly differences: readonly string[];
}

/**
 * Runs `run` for each index, several at once, each with chance of its own that depends on the seed and
 * the index alone: a failure is repeated with `only`. A throw ends everything, with the index in its message.
 */
export async function runTrials(
  { title, seed, count, only, concurrency = concurrencyDefault }: TrialOptions,
  run: (random: Random, index: number, signal: AbortSignal) => Promise<Trial>,
  signal: AbortSignal,
): Promise<TrialReport> {
  const report = new TrialReport(title, seed);
  const indexes = only === undefined ? Array.from({ length: count }, (_, index) => index) : [only];
  const runOne = async (index: number, within: AbortSignal): Promise<void> => {
    try {
      report.add(index, await run(seededRandom(`${seed}/${index}`), index, within));
    } catch (error) {
      throw new Error(`trial ${index} of seed ${seed} broke`, { cause: error });
    }
  };
  await forEachAtOnce(indexes, { atOnce: concurrency, run: runOne }, signal);
  return report;
}

interface Cell {
  accepted: number;
  refused: number;
}

/** What happened: coverage, explained differences by their line, and the others. */
export class TrialReport {
  readonly title: string;
  readonly seed: number | string;
  readonly unexplained: UnexplainedTrial[] = [];
  readonly explained = new Map<string, number>();
  readonly #cells = new Map<string, Map<string, Cell>>();
  #count = 0;
  #accepted = 0;

  constructor(title: string, seed: number | string) {
    this.title = title;
    this.seed = seed;
  }

  add(index: number, trial: Trial): void {
    this.#count += 1;
    this.#accepted += trial.accepted ? 1 : 0;
    const row = this.#cells.get(trial.kind) ?? new Map<string, Cell>();
    const cell = row.get(trial.operation) ?? { accepted: 0, refused: 0 };
    cell[trial.accepted ? "accepted" : "refused"] += 1;
    row.set(trial.operation, cell);
    this.#cells.set(trial.kind, row);

    const differences = compare(trial.oracle, trial.ours);
    if (differences.length === 0) return;
    const reasons = differences.map((difference) =>
      allowedDifferences.find(({ explains }) => explains(difference, trial)),
    );
    if (reasons.includes(undefined)) {
      this.unexplained.push({ index, trial, differences: differences.map(describeDifference) });
      return;
    }
    for (const id of new Set(reasons.map((reason) => reason?.id ?? ""))) {
      this.explained.set(id, (this.explained.get(id) ?? 0) + 1);
    }
  }

  get count(): number {
    return this.#count;
  }

  get acceptedShare(): number {
    return this.#count === 0 ? 0 : this.#accepted / this.#count;
  }

  /** How many trials the rarest pair of kind and operation had. */
  get rarest(): number {
    const sums = [...this.#cells.values()].flatMap((row) =>
      [...row.values()].map(({ accepted, refused }) => accepted + refused),
    );
    return Math.min(...sums);
  }

  /** A table for people: accepted/refused by kind and operation, then the differences. */
  toString(): string {
    const operations = [...new Set([...this.#cells.values()].flatMap((row) => [...row.keys()]))];
    const rows = [...this.#cells].map(([kind, row]) => [
      kind,
      ...operations.map((operation) => {
        const { accepted, refused } = row.get(operation) ?? { accepted: 0, refused: 0 };
        return `${accepted}/${refused}`;
      }),
    ]);
    const table = [
      ["accepted/refused", ...operations],
      ...rows.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    ];
    const explained = [...this.explained].map(([id, count]) => `${id}: ${count}`).join(", ");
    return [
      `${this.title}: ${this.#count} trials of seed ${this.seed}, ${Math.round(this.acceptedShare * 100)} % accepted`,
      aligned(table),
      `allowed differences: ${explained || "none"}; unexplained: ${this.unexplained.length}`,
    ].join("\n");
  }

  /** Throws unless every difference is explained; shows the first of the others. */
  assertExplained(): void {
    const shown = this.unexplained.slice(0, shownMax).map(({ index, trial, differences }) => {
      const context =
        trial.context === undefined ? "" : `\n  ${JSON.stringify(trial.context, jsonable)}`;
      return `trial ${index}, ${trial.operation} ${trial.kind}:\n  ${differences.join("\n  ")}${context}`;
    });
    assert.ok(
      this.unexplained.length === 0,
      `${this.unexplained.length} unexplained differences with seed ${this.seed}\n${shown.join("\n")}`,
    );
  }
}

/** Numbers that JSON.stringify refuses, as text. */
function jsonable(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
