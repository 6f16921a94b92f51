// One connection. The driver would reconnect in silence, and the rest of a transaction would run outside it; a session
// is dead once its connection is, and says so.

import { readFile } from "node:fs/promises";
import { onAbort, type Clock } from "@keelson/base";
import postgres from "postgres";
import { StepError } from "../steps/step-error.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { nameDriverError } from "./driver-errors.ts";

/** SQL under a name, which reaches errors and the hook of tests. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly (string | number | boolean | null)[];
}

/** A point at which a test may throw, or end the connection: before a statement is sent, or after it is answered. */
export interface StatementPoint {
  readonly statement: string;
  readonly phase: "before" | "after";
}

export interface SessionOptions {
  readonly parts: ConnectionParts;
  /** How long a statement may take, connecting included. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Where names are looked up, as SQL text; nowhere but among PostgreSQL's own unless told, whatever a role has set. */
  readonly searchPath?: string;
  readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #sql: postgres.Sql;
  #isDead = false;
  #fail: ((error: Error) => void) | undefined;

  private constructor(options: SessionOptions, ca: string | undefined) {
    const { parts, timeoutMs } = options;
    this.#options = options;
    this.#sql = postgres({
      host: parts.host,
      port: parts.port,
      database: parts.database,
      username: parts.user,
      password: parts.password,
      ssl: tlsOf(parts, ca),
      max: 1,
      connect_timeout: Math.ceil(timeoutMs / 1000),
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false, // One question fewer: rows have texts, numbers, booleans and JSON.
      onnotice: () => {},
      onclose: () => {
        this.#isDead = true;
        // The driver forgets a statement that is sent between the error of a connection and its end.
        this.#fail?.(this.#lost());
      },
      connection: {
        application_name: "plattr-operator",
        statement_timeout: timeoutMs,
        // Below the time of a Lease: the next leader finds nothing locked by one that was stopped in the middle.
        idle_in_transaction_session_timeout: timeoutMs,
        search_path: options.searchPath ?? "pg_catalog",
      },
    });
  }

  /** Nothing is connected yet: the first statement does that. */
  static async open(options: SessionOptions): Promise<Session> {
    const { caFile } = options.parts;
    const ca = caFile === undefined ? undefined : await readFile(caFile, "utf8");
    return new Session(options, ca);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Runs a statement. One that is not answered in time, or no longer wanted, takes its session with it. */
  async run<R extends object>(statement: Statement, signal: AbortSignal): Promise<readonly R[]> {
    const { onStatement, parts } = this.#options;
    const { name, text, values = [] } = statement;
    try {
      await onStatement?.({ statement: name, phase: "before" });
      signal.throwIfAborted();
      if (this.#isDead) throw this.#lost();
      const rows = await this.#inTime(this.#sql.unsafe(text, [...values]), name, signal);
      await onStatement?.({ statement: name, phase: "after" });
      return rows as unknown as readonly R[];
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw nameDriverError(error, name, serverOf(parts));
    }
  }

  /** Runs `work` in a transaction. Whatever fails in it ends the session, and so undoes it. */
  async transaction<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      await this.run({ name: "begin", text: "BEGIN" }, signal);
      const result = await work();
      await this.run({ name: "commit", text: "COMMIT" }, signal);
      return result;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Ends the connection, whatever is running on it. */
  async close(): Promise<void> {
    this.#isDead = true;
    await this.#sql.end({ timeout: 0 });
  }

  async #inTime(
    query: postgres.PendingQuery<postgres.Row[]>,
    name: string,
    signal: AbortSignal,
  ): Promise<readonly postgres.Row[]> {
    const { clock, timeoutMs, parts } = this.#options;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    failed.catch(() => {});
    this.#fail = reject;
    const abandon = (reason: Error): void => {
      cancelQuery(query); // The server stops by itself at the same limit where that does not arrive.
      void this.close();
      reject(reason);
    };
    using _timer = clock.after(timeoutMs, () => {
      const message = `${serverOf(parts)}: ${name} was not answered within ${timeoutMs / 1000} s`;
      abandon(new StepError("Unreachable", message));
    });
    using _abort = onAbort(signal, () => abandon(signal.reason as Error));
    try {
      return await Promise.race([query.execute(), failed]);
    } finally {
      this.#fail = undefined;
    }
  }

  #lost(): StepError {
    const server = serverOf(this.#options.parts);
    return new StepError("Unreachable", `${server}: the connection was lost`);
  }
}

/** The driver's own `cancel` lets go of a promise, whose rejection, where the server is away, ends the process. */
function cancelQuery(query: object): void {
  const { canceller } = query as { canceller?: (query: object) => Promise<void> };
  canceller?.(query).catch(() => {});
}

function serverOf({ host, port }: ConnectionParts): string {
  return `PostgreSQL at ${host}:${port}`;
}

function tlsOf(
  { tls }: ConnectionParts,
  ca: string | undefined,
): Exclude<postgres.Options<never>["ssl"], undefined> {
  if (tls === "disable") return false;
  // What libpq does with a URL that says nothing: encrypted where the server can.
  const isVerified = tls?.startsWith("verify-") === true || ca !== undefined;
  if (!isVerified) return tls === "require" || tls === "allow" ? tls : "prefer";
  return {
    ...(ca === undefined ? {} : { ca }),
    // Only verify-full asks whose certificate it is; the others, by whom it was signed.
    ...(tls === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}
