// One connection to PostgreSQL, with a deadline of our own on every call.

import postgres, { type Sql } from "postgres";
import type { Clock } from "@keelson/base";
import type { OnStatement } from "../backend.ts";
import { Unavailable } from "../errors.ts";
import { toStoreError } from "./errors.ts";

export interface ConnectionOptions {
  readonly url: string;
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
    this.#sql = connect(options.url);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Runs a statement. A read ends early with `signal`; a write takes none and runs to its end. */
  async run<T>(
    name: string,
    statement: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const { clock, callMsMax, onStatement } = this.#options;
    onStatement(name);
    const { promise: interrupted, reject } = Promise.withResolvers<never>();
    const sql = this.#sql;
    using _deadline = clock.after(callMsMax, () => {
      this.#giveUp(sql);
      reject(new Unavailable(`${name}: the database took longer than ${callMsMax} ms`));
    });
    const abort = (): void => {
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#inFlight += 1;
    try {
      return await Promise.race([statement(sql), interrupted]);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.#inFlight -= 1;
      signal?.removeEventListener("abort", abort);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }

  #giveUp(sql: Sql): void {
    if (this.#sql !== sql) return; // Another call has noticed before.
    this.#sql = connect(this.#options.url);
    void sql.end({ timeout: 0 });
  }
}

/** A driver for one connection, made when it is first used and again after it was lost. */
export function connect(url: string): Sql {
  return postgres(url, {
    max: 1,
    idle_timeout: 0,
    connect_timeout: 5,
    backoff: () => 0.1,
    fetch_types: false,
    onnotice: () => undefined,
    // Compiling a statement takes longer than running any of ours.
    connection: { application_name: "keelson-store", jit: "off" },
  });
}
