// Positions of a log, given out after commit. A sequence read by a cursor skips rows that commit late, and a
// counter row held to commit makes every transaction wait for every other. So transactions write rows
// without a position, and one step at a time moves those that are visible behind the last.

import { noMetrics, type Metrics } from "@keelson/base";
import type { Database, Transaction } from "./database.ts";
import { declareMetrics } from "./metrics.ts";
import {
  hasUnnumbered,
  lockNumbering,
  numberRows,
  startLog,
  type LogShape,
} from "./sql/numbering.ts";

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
  /** Further work in the step's own transaction, for the rows it has just moved. */
  readonly onNumbered?: (sql: Transaction, numbered: Numbered) => Promise<void>;
  readonly metrics?: Metrics;
}

/**
 * Gives visible rows their positions.
 *
 * - No position ever becomes visible below one that was already visible, and there are no gaps.
 * - Rows of transactions that rolled back get none; rows that committed get exactly one.
 * - Rows that were visible before a step began are in insertion order.
 */
export class Numbering {
  readonly #options: Required<Omit<NumberingOptions, "metrics">>;
  readonly #count: (rows: number) => void;

  constructor({
    database,
    shape,
    batchMax = 1_000,
    onNumbered = async () => {},
    metrics = noMetrics,
  }: NumberingOptions) {
    this.#options = { database, shape, batchMax, onNumbered };
    const numbered = declareMetrics(metrics).numbered.with({ log: shape.log });
    this.#count = (rows) => numbered.add(rows);
  }

  /** Numbers until nothing visible is left, and gives what it numbered itself; undefined for nothing. */
  async numberAll(signal: AbortSignal): Promise<Numbered | undefined> {
    const { database, shape, batchMax } = this.#options;
    let all: Numbered | undefined;
    for (;;) {
      // Cheap, and without the lock: most wake-ups of a replica are about rows that another has numbered.
      const [look] = await database.run(hasUnnumbered, shape, signal);
      if (look?.found !== true) return all;
      const step = await this.#step(signal);
      if (step === undefined) return all;
      all = { from: all?.from ?? step.from, to: step.to };
      this.#count(step.to - step.from + 1);
      if (step.to - step.from + 1 < batchMax) return all;
    }
  }

  /** One transaction, committed durably: a position that a reader has seen must survive a crash. */
  async #step(signal: AbortSignal): Promise<Numbered | undefined> {
    const { database, shape, batchMax, onNumbered } = this.#options;
    return database.transaction(async (sql) => {
      const after = await lockLog(sql, shape.log);
      const [done] = await sql.run(numberRows, { shape, after, limit: batchMax });
      if (done === undefined) return undefined;
      const numbered = { from: after + 1, to: after + done.moved };
      await onNumbered(sql, numbered);
      return numbered;
    }, signal);
  }
}

/** The last position given out, which nobody else can raise before `sql` ends. */
async function lockLog(sql: Transaction, log: string): Promise<number> {
  for (;;) {
    const [row] = await sql.run(lockNumbering, log);
    if (row !== undefined) return Number(row.last_position);
    await sql.run(startLog, log); // The first time ever. Where two try, one waits for the other.
  }
}
