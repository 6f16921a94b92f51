// One connection to PostgreSQL, with a deadline of our own on every call.

import postgres, { type Sql } from "postgres";
import { untilAbort, type Clock } from "@keelson/base";
import type { OnStatement } from "../backend.ts";
import { Unavailable } from "../errors.ts";
import { isConnectionLost, toStoreError } from "./errors.ts";
import { serverAddress } from "./server-address.ts";

export interface DriverOptions {
  readonly url: string;
  /** Whether statements are prepared: off behind a pooler that cannot keep them. */
  readonly prepare: boolean;
}

export interface ConnectionOptions extends DriverOptions {
  readonly clock: Clock;
  /** The longest a call may take before its connection is given up. */
  readonly callMsMax: number;
  readonly onStatement: OnStatement;
}

/**
 * A connection that heals: a call that takes too long ends with Unavailable and its
 * connection is thrown away, because a peer that has vanished never answers; the next
 * call makes a new one. Calls that overlap are pipelined.
 */
export class Connection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  #sql: Sql;
  #inFlight = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#sql = connect(options);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Runs a statement. A caller may stop waiting by its signal; the statement goes on, and so does its
   * deadline, or a connection that is dead would never be found out by callers of little patience.
   */
  async run<T>(
    name: string,
    statement: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    this.#options.onStatement(name);
    const running = this.#watched(name, statement);
    return signal === undefined ? running : untilAbort(running, signal);
  }

  async #watched<T>(name: string, statement: (sql: Sql) => Promise<T>): Promise<T> {
    const { clock, callMsMax } = this.#options;
    const sql = this.#sql;
    const { promise: late, reject } = Promise.withResolvers<never>();
    using _deadline = clock.after(callMsMax, () => {
      this.#giveUp(sql);
      reject(new Unavailable(`${name}: the database took longer than ${callMsMax} ms`));
    });
    this.#inFlight += 1;
    try {
      return await Promise.race([statement(sql), late]);
    } catch (error) {
      // The driver keeps what it had not yet sent over a connection that was lost, and then waits for ever to
      // greet the server on the next one: a fresh driver has nothing left over (S17).
      if (isConnectionLost(error)) this.#giveUp(sql);
      throw toStoreError(error);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }

  #giveUp(sql: Sql): void {
    if (this.#sql !== sql) return; // Another call has noticed before.
    this.#sql = connect(this.#options);
    void sql.end({ timeout: 0 });
  }
}

/** A driver for one connection, made when it is first used and again after it was lost. */
export function connect(
  { url, prepare }: DriverOptions,
  hooks: {
    readonly onnotify?: (channel: string, payload: string) => void;
    readonly onclose?: () => void;
  } = {},
): Sql {
  return postgres(url, {
    ...serverAddress(url),
    max: 1,
    prepare,
    idle_timeout: 0,
    connect_timeout: 5,
    backoff: () => 0.1,
    fetch_types: false,
    onnotice: () => undefined,
    // Nothing else: poolers refuse parameters of a start that they do not know.
    connection: { application_name: "keelson-store" },
    ...hooks,
  });
}
