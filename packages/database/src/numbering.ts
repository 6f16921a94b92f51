// Positions of a log, given out after commit. A sequence read by a cursor skips rows that commit late, and a
// counter row held to commit makes every transaction wait for every other. So transactions write rows
// without a position, and one step at a time moves those that are visible behind the last.

import type { Database } from "./database.ts";
import { declareMetrics } from "./metrics.ts";
import { numberRows, startLog, type LogShape } from "./sql/numbering.ts";

/** Positions `from` to `to`, both included. */
export interface Numbered {
  readonly from: number;
  readonly to: number;
}

export interface NumberingOptions {
  readonly database: Database;
  readonly shape: LogShape;
  /** How many rows one step moves at most. */
  readonly batchMax?: number;
}

/**
 * Gives visible rows their positions.
 *
 * - No position ever becomes visible below one that was already visible, and there are no gaps.
 * - Rows of transactions that rolled back get none; rows that committed get exactly one.
 * - Rows that were visible before a step began are in insertion order.
 * - A position that anybody has seen survives a crash of the server.
 */
export class Numbering {
  readonly #database: Database;
  readonly #shape: LogShape;
  readonly #batchMax: number;
  #isStarted = false;

  constructor({ database, shape, batchMax = 1_000 }: NumberingOptions) {
    this.#database = database;
    this.#shape = shape;
    this.#batchMax = batchMax;
  }

  /** Numbers until nothing visible is left, and gives what it numbered itself; undefined for nothing. */
  async numberAll(signal: AbortSignal): Promise<Numbered | undefined> {
    const { numbered } = declareMetrics(this.#database.metrics);
    let all: Numbered | undefined;
    for (;;) {
      const step = await this.#step(signal);
      if (step === undefined) return all;
      const count = step.to - step.from + 1;
      numbered.add({ log: this.#shape.log }, count);
      all = { from: all?.from ?? step.from, to: step.to };
      if (count < this.#batchMax) return all;
    }
  }

  async #step(signal: AbortSignal): Promise<Numbered | undefined> {
    if (!this.#isStarted) {
      await this.#database.run(startLog, this.#shape.log, signal);
      this.#isStarted = true;
    }
    const parameters = { shape: this.#shape, limit: this.#batchMax };
    const [row] = await this.#database.run(numberRows, parameters, signal);
    const from = Number(row?.from_position);
    const to = Number(row?.to_position);
    return to < from ? undefined : { from, to };
  }
}
