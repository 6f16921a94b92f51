// One connection. The driver would reconnect in silence, and the rest of a transaction would run outside it;
// a session is dead once its connection is, and says so.

import { readJson, writeJson, type Clock } from "@keelson/base";
import postgres from "postgres";
import { DatabaseTimeout, DatabaseUnavailable } from "../errors.ts";
import { arrayTypes } from "./array-types.ts";
import { nameDriverError } from "./driver-errors.ts";
import { quoted } from "./identifier.ts";
import { serverAddress } from "./server-address.ts";
import type { Sql, Statement } from "./statement.ts";
import { begin, type TransactionModes } from "./transaction.ts";

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly searchPath?: readonly string[];
  readonly connectTimeoutMs: number;
  /** The server's own limit for a statement, for when we cannot tell it to stop; 0 for none. */
  readonly statementTimeoutMs: number;
  readonly clock: Clock;
  readonly onClose?: () => void;
  readonly onNotify?: (channel: string, payload: string) => void;
}

/** How long after its deadline a cancelled statement may take to say so. */
const cancelGraceMs = 1_000;

/** A connection to the database, opened by its first statement. One statement at a time. */
export class Session {
  readonly openedMs: number;
  readonly #sql: Sql;
  readonly #clock: Clock;
  #isOpen = false;
  #isDead = false;
  #isCancelling = false;
  #isBusy = false;
  #fail: ((error: Error) => void) | undefined;

  constructor(options: SessionOptions) {
    const { url, clock, statementTimeoutMs, searchPath, onClose, onNotify } = options;
    this.#clock = clock;
    this.openedMs = clock.monotonic();
    const settings = {
      ...serverAddress(url),
      max: 1,
      connect_timeout: Math.ceil(options.connectTimeoutMs / 1000),
      max_lifetime: null,
      idle_timeout: 0,
      keep_alive: 10,
      types: {
        json: { to: 3802, from: [114, 3802], serialize: writeJson, parse: readJson },
        ...arrayTypes,
      },
      fetch_types: false,
      onnotice: () => {},
      onnotify: onNotify, // The driver has it, its types do not.
      onclose: () => {
        this.#isDead = true;
        // The driver forgets a statement that is sent between the error of a connection and its end.
        this.#fail?.(lost());
        onClose?.();
      },
      connection: {
        application_name: options.applicationName,
        TimeZone: "UTC",
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: 60_000,
        client_connection_check_interval: 1_000, // A statement of a process that died holds no locks for long.
        ...(searchPath && { search_path: quoted(...searchPath) }),
      },
    };
    this.#sql = postgres(url, settings);
  }

  /** Whether its connection was lost or closed: then nothing runs on it any more. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /**
   * Whether the server was told to cancel a statement, and none has failed of it: that goes by a connection of its own, may
   * still be on its way, and will hit whatever runs here when it arrives.
   */
  get isCancelling(): boolean {
    return this.#isCancelling;
  }

  /**
   * Runs one statement within `deadlineMs`. A session that misses it and does not heed the cancelling either is
   * closed: its server is not there.
   *
   * With `modes` it is the first of a transaction: the command that begins it goes out ahead of it in the same
   * message, which saves a round trip.
   */
  async run<P, R>(
    { name, build, isScript }: Statement<P, R>,
    parameters: P,
    deadlineMs: number,
    modes?: TransactionModes,
  ): Promise<readonly R[]> {
    if (this.#isDead) throw lost(name);
    if (this.#isBusy)
      throw new TypeError(`${name} was sent before the last statement was answered`);
    this.#isBusy = true;
    try {
      const query = build(this.#sql, parameters);
      const rows = await this.#inTime(query, name, deadlineMs, async () => {
        if (modes === undefined) return query.execute();
        const beginning = begin.build(this.#sql, modes).execute();
        // Not on a connection that is still to be made: the driver would keep what comes second for the next
        // connection, should this one fail, and run it there outside the transaction.
        if (!this.#isOpen) await beginning;
        const [, rows] = await Promise.all([beginning, query.execute()]);
        return rows;
      });
      this.#isOpen = true;
      return isScript === true ? ((rows.at(-1) ?? []) as unknown as R[]) : rows;
    } catch (error) {
      const named = nameDriverError(error, name);
      if (named instanceof DatabaseTimeout) this.#isCancelling = false;
      // Before the driver says so: what is sent from here on would wait for an answer that cannot come.
      if (named instanceof DatabaseUnavailable) this.#isDead = true;
      throw named;
    } finally {
      this.#isBusy = false;
    }
  }

  /** Closes the connection after the statement that is running, or without waiting for it. */
  async close({ immediately = false }: { readonly immediately?: boolean } = {}): Promise<void> {
    this.#isDead = true;
    await this.#sql.end(immediately ? { timeout: 0 } : {});
  }

  async #inTime<T>(
    query: object,
    name: string,
    deadlineMs: number,
    send: () => Promise<T>,
  ): Promise<T> {
    const { promise: failed, reject } = Promise.withResolvers<never>();
    failed.catch(() => {});
    this.#fail = reject;
    const giveUp = (): void => {
      this.#isDead = true;
      void this.#sql.end({ timeout: 0 });
      reject(new DatabaseTimeout(`${name} was not answered in time`, { statement: name }));
    };
    const onDeadline = (): void => {
      this.#isCancelling = true;
      cancelQuery(query);
      timer = this.#clock.after(cancelGraceMs, giveUp);
    };
    let timer = this.#clock.after(deadlineMs, onDeadline);
    try {
      return await Promise.race([send(), failed]);
    } finally {
      this.#fail = undefined;
      timer[Symbol.dispose]();
    }
  }
}

/** The driver's own `cancel` lets go of a promise, whose rejection, where the server is away, ends the process. */
function cancelQuery(query: object): void {
  const { canceller } = query as { canceller?: (query: object) => Promise<void> };
  canceller?.(query).catch(() => {});
}

function lost(statement = "none"): DatabaseUnavailable {
  return new DatabaseUnavailable("the connection to the database was lost", { statement });
}
