// The pool as services see it: named statements and transactions, each with a deadline, each failure named.

import { noMetrics, systemClock, type Clock, type Histogram, type Metrics } from "@keelson/base";
import { DatabaseError, DatabaseTimeout, DatabaseUnavailable } from "./errors.ts";
import { declareMetrics } from "./metrics.ts";
import { Pool } from "./pool.ts";
import { Session } from "./sql/session.ts";
import type { Statement } from "./sql/statement.ts";
import { begin, commit, rollback, type TransactionModes } from "./sql/transaction.ts";

/** A point at which a test may throw, wait or kill the process: before a statement is sent, or after it is answered. */
export interface StatementPoint {
  readonly statement: string;
  readonly phase: "before" | "after";
}

/** A statement that was answered, or failed. */
export interface StatementRun {
  /** The name of the pool. */
  readonly pool: string;
  readonly statement: string;
  readonly result: "done" | "failed";
  readonly elapsedMs: number;
}

export interface DatabaseOptions {
  readonly url: string;
  /** What the connections call themselves in `pg_stat_activity`, and the pool in metrics. */
  readonly name: string;
  /** Schemas in which plain table names are looked up, first one first. */
  readonly searchPath?: readonly string[];
  readonly connectionsMax?: number;
  readonly waitersMax?: number;
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
  /** How long a call may take, waiting for a connection included, unless its statement says otherwise. */
  readonly deadlineMs?: number;
  readonly connectTimeoutMs?: number;
  readonly clock?: Clock;
  readonly metrics?: Metrics;
  /** For tests: called at every statement, `begin` and `commit` included. What it throws counts as the database's failure. */
  readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
  /** For a log: told of every statement, with the signal of whoever asked for it. Must not throw. */
  readonly onRun?: (run: StatementRun, signal: AbortSignal) => void;
}

/** The server's limit. Deadlines are below it; it is for statements that nobody is left to cancel. */
const statementTimeoutMaxMs = 60_000;

/** Runs statements, one at a time. */
export interface Runner {
  run<P, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;
}

/** An open transaction. It contains SQL and nothing else, and it is over when `transaction` returns. */
export interface Transaction extends Runner {
  /** Calls back once the transaction has committed; never when it has not, or when nobody knows. */
  afterCommit(callback: () => void): void;
}

/**
 * Opens the pool. Nothing is connected yet: the first call does that, and fails with `DatabaseUnavailable`
 * where there is no database.
 */
export function openDatabase(options: DatabaseOptions): Database {
  return new Database(options);
}

export class Database implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly #deadlineMs: number;
  readonly #connectTimeoutMs: number;
  readonly #searchPath: readonly string[] | undefined;
  readonly #onStatement: DatabaseOptions["onStatement"];
  readonly #onRun: DatabaseOptions["onRun"];
  readonly #pool: Pool;
  readonly #statementSeconds: Histogram<"statement" | "result">;

  constructor(options: DatabaseOptions) {
    this.name = options.name;
    this.url = options.url;
    this.clock = options.clock ?? systemClock;
    this.metrics = options.metrics ?? noMetrics;
    this.#deadlineMs = options.deadlineMs ?? 5_000;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 4_000;
    this.#searchPath = options.searchPath;
    this.#onStatement = options.onStatement;
    this.#onRun = options.onRun;
    const { statementSeconds, poolConnections, poolWaiting } = declareMetrics(this.metrics);
    this.#statementSeconds = statementSeconds;
    const pool = this.name;
    this.#pool = new Pool({
      connectionsMax: options.connectionsMax ?? 25,
      waitersMax: options.waitersMax ?? 1_000,
      idleMs: options.idleMs ?? 60_000,
      lifetimeMs: options.lifetimeMs ?? 300_000,
      clock: this.clock,
      open: (onClose) => this.openSession({ onClose }),
      onChange: ({ busy, idle, waiting }) => {
        poolConnections.set({ pool, state: "busy" }, busy);
        poolConnections.set({ pool, state: "idle" }, idle);
        poolWaiting.set({ pool }, waiting);
      },
    });
  }

  /** Runs one statement in a transaction of its own. Once sent it runs to its end, whatever becomes of `signal`. */
  async run<P, R>(
    statement: Statement<P, R>,
    parameters: P,
    signal: AbortSignal,
  ): Promise<readonly R[]> {
    const deadlineMs = statement.deadlineMs ?? this.#deadlineMs;
    const dueMs = this.clock.monotonic() + deadlineMs;
    const session = await this.#pool.take(deadlineMs, signal);
    try {
      return await this.#observe(session, statement, parameters, { dueMs, signal });
    } finally {
      this.#pool.give(session);
    }
  }

  /**
   * Runs `work` in a transaction and commits it. Whatever `work` throws rolls back and is thrown on; so does
   * an abort of `signal` between two statements. A statement that failed dooms the transaction even when
   * `work` catches it. Without a statement there is no transaction, and nothing is sent.
   */
  async transaction<T>(
    work: (sql: Transaction) => Promise<T>,
    signal: AbortSignal,
    modes: Partial<TransactionModes> = {},
  ): Promise<T> {
    const session = await this.#pool.take(this.#deadlineMs, signal);
    try {
      return await this.#transactionOn(session, work, signal, { ...defaultModes, ...modes });
    } finally {
      this.#pool.give(session);
    }
  }

  /** A connection outside the pool, owned by the caller, with the pool's settings. */
  openSession({
    statementTimeoutMs = statementTimeoutMaxMs,
    ...hooks
  }: {
    readonly statementTimeoutMs?: number;
    readonly onClose?: () => void;
    readonly onNotify?: (channel: string, payload: string) => void;
  }): Session {
    return new Session({
      url: this.url,
      applicationName: `keelson ${this.name}`,
      connectTimeoutMs: this.#connectTimeoutMs,
      statementTimeoutMs,
      clock: this.clock,
      ...(this.#searchPath && { searchPath: this.#searchPath }),
      ...hooks,
    });
  }

  /** Closes every connection, after waiting for the calls that are running. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  async #transactionOn<T>(
    session: Session,
    work: (sql: Transaction) => Promise<T>,
    signal: AbortSignal,
    modes: TransactionModes,
  ): Promise<T> {
    const committed: (() => void)[] = [];
    let state: "new" | "open" | "over" = "new";
    let doom: Error | undefined;
    const send = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]> => {
      const dueMs = this.clock.monotonic() + (statement.deadlineMs ?? this.#deadlineMs);
      if (state === "open") return this.#observe(session, statement, parameters, { dueMs, signal });
      await this.#onStatement?.({ statement: begin.name, phase: "before" });
      state = "open";
      return this.#observe(session, statement, parameters, { dueMs, signal, modes });
    };
    const transaction: Transaction = {
      async run(statement, parameters) {
        if (state === "over") {
          throw new TypeError(`${statement.name} was run after its transaction was over`);
        }
        try {
          signal.throwIfAborted();
          return await send(statement, parameters);
        } catch (error) {
          doom ??= error as Error;
          throw error;
        }
      },
      afterCommit: (callback) => void committed.push(callback),
    };

    const isOpen = (): boolean => state === "open";
    let result: T;
    try {
      result = await work(transaction);
      if (doom !== undefined) throw doom;
    } catch (error) {
      if (isOpen()) await this.#undo(session);
      state = "over";
      throw error;
    }
    try {
      if (isOpen()) await send(commit, undefined);
    } catch (error) {
      await this.#undo(session);
      throw unknownOutcome(error);
    } finally {
      state = "over";
    }
    for (const callback of committed) callback();
    return result;
  }

  /** Leaves the session without a transaction, or dead: the server then undoes it by itself. */
  async #undo(session: Session): Promise<void> {
    try {
      await session.run(rollback, undefined, this.#deadlineMs);
    } catch {
      await session.close({ immediately: true });
    }
  }

  async #observe<P, R>(
    session: Session,
    statement: Statement<P, R>,
    parameters: P,
    {
      dueMs,
      signal,
      modes,
    }: {
      readonly dueMs: number;
      readonly signal: AbortSignal;
      /** Of the transaction that begins with it. */
      readonly modes?: TransactionModes;
    },
  ): Promise<readonly R[]> {
    const { name } = statement;
    const startMs = this.clock.monotonic();
    let result: StatementRun["result"] = "failed";
    try {
      await this.#onStatement?.({ statement: name, phase: "before" });
      const leftMs = dueMs - this.clock.monotonic();
      if (leftMs <= 0) throw new DatabaseTimeout(`${name} took too long`, { statement: name });
      const rows = await session.run(statement, parameters, leftMs, modes);
      await this.#onStatement?.({ statement: name, phase: "after" });
      result = "done";
      return rows;
    } finally {
      const elapsedMs = this.clock.monotonic() - startMs;
      this.#statementSeconds.observe({ statement: name, result }, elapsedMs / 1000);
      this.#onRun?.({ pool: this.name, statement: name, result, elapsedMs }, signal);
    }
  }
}

const defaultModes: TransactionModes = {
  isolation: "read committed",
  readOnly: false,
  durability: "full",
};

/** A commit that was sent and not answered may have happened. */
function unknownOutcome(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || !error.isTransient) return error;
  return new DatabaseUnavailable("the database went away during a commit", {
    isDone: "unknown",
    statement: "commit",
    cause: error,
  });
}
