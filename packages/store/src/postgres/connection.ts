// One connection to PostgreSQL, with a deadline of our own on every call.

import postgres, { type Sql } from "postgres";
import { untilAbort, type Clock } from "@keelson/base";
import type { OnStatement } from "../backend.ts";
import { Unavailable } from "../errors.ts";
import { isAnswer, isConnectionLost, isReadOnly, toStoreError } from "./errors.ts";
import { serverAddress, sessionTarget } from "./server-address.ts";

export interface DriverOptions {
  readonly url: string;
  /** Asked for each connection, where the URL has no password: it may be another by then. */
  readonly password?: (() => Promise<string>) | undefined;
  /** Whether statements are prepared: off behind a pooler that cannot keep them. */
  readonly prepare: boolean;
  /** The longest it may take until a server has greeted us. */
  readonly connectMsMax?: number | undefined;
}

export interface ConnectionOptions extends DriverOptions {
  readonly clock: Clock;
  /** The longest a call may take before its connection is given up. */
  readonly callMsMax: number;
  readonly onStatement: OnStatement;
  /** Called when `open` or `inFlight` may be another. */
  readonly onChange: () => void;
}

/** The driver of one connection, and what we know of it. */
interface Driver {
  readonly sql: Sql;
  readonly madeAt: number;
  inFlight: number;
  /** Whether the server has answered on it since it was connected. */
  isOpen: boolean;
  /** Why we have ended it; undefined: we have not. */
  endedBy: unknown;
}

/** A server that takes no writes is asked by a new connection at most this often. */
const renewMs = 1000;

/**
 * A connection that heals: a call that takes too long ends with Unavailable and its
 * connection is thrown away, because a peer that has vanished never answers; the next
 * call makes a new one. So does the next call after a server has said that it takes no
 * writes: after a failover its name leads to another. Calls that overlap are pipelined.
 */
export class Connection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  /** The one in use, and those whose calls have not ended yet. */
  readonly #drivers = new Set<Driver>();
  #driver: Driver;
  #inFlight = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#driver = this.#newDriver();
  }

  /** How many connections are open: one, or none; one more while another is left. */
  get open(): number {
    let open = 0;
    for (const { isOpen } of this.#drivers) if (isOpen) open += 1;
    return open;
  }

  /** How many calls have not ended. */
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
    const { clock, callMsMax, onChange } = this.#options;
    const driver = this.#driver;
    const { promise: late, reject } = Promise.withResolvers<never>();
    using _deadline = clock.after(callMsMax, () => {
      const error = new Unavailable(`${name}: the database took longer than ${callMsMax} ms`);
      this.#giveUp(driver, error);
      reject(error);
    });
    driver.inFlight += 1;
    this.#inFlight += 1;
    onChange();
    try {
      const result = await Promise.race([statement(driver.sql), late]);
      driver.isOpen = true;
      return result;
    } catch (error) {
      if (isAnswer(error)) driver.isOpen = true;
      const reason = this.#reasonOf(driver, error);
      // The driver keeps what it had not yet sent over a connection that was lost, and then waits for ever to
      // greet the server on the next one: a fresh driver has nothing left over (S17).
      if (isConnectionLost(error)) this.#giveUp(driver, reason);
      else if (isReadOnly(error)) this.#leave(driver);
      throw toStoreError(reason);
    } finally {
      driver.inFlight -= 1;
      this.#inFlight -= 1;
      this.#endIfLeft(driver);
      onChange();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#drivers.values().map(({ sql }) => sql.end({ timeout: 1 })));
  }

  /** Ends it at once, with everything that is under way on it. */
  #giveUp(driver: Driver, reason: unknown): void {
    if (driver.endedBy !== undefined) return; // Another call has noticed before.
    driver.endedBy = reason;
    this.#drivers.delete(driver);
    if (this.#driver === driver) this.#driver = this.#newDriver();
    void driver.sql.end({ timeout: 0 });
  }

  /** Goes on with another. What is under way on this one may be reads, which it answers. */
  #leave(driver: Driver): void {
    const isYoung = this.#options.clock.monotonic() < driver.madeAt + renewMs;
    if (this.#driver === driver && !isYoung) this.#driver = this.#newDriver();
  }

  /** Not by asking the driver to end when it is done: it forgets what it has not sent yet. */
  #endIfLeft(driver: Driver): void {
    if (this.#driver === driver || driver.inFlight > 0) return;
    this.#giveUp(driver, new Unavailable("its connection was left for another"));
  }

  /** Why a call failed: the driver does not know why its connection was ended. */
  #reasonOf(driver: Driver, error: unknown): unknown {
    if (!isEnded(error)) return error;
    if (driver.endedBy !== undefined) return driver.endedBy;
    const { url } = this.#options;
    return new Unavailable(`the database accepts no writes: ${whatItIs[sessionTarget(url)]}`, {
      cause: error,
    });
  }

  #newDriver(): Driver {
    const { clock, onChange } = this.#options;
    const onclose = (): void => {
      driver.isOpen = false;
      onChange();
    };
    const driver: Driver = {
      sql: connect(this.#options, { onclose }),
      madeAt: clock.monotonic(),
      inFlight: 0,
      isOpen: false,
      endedBy: undefined,
    };
    this.#drivers.add(driver);
    return driver;
  }
}

/** What a server is that the driver has turned away from. */
const whatItIs = { primary: "it is a standby", "read-write": "it is read-only" } as const;

/** Whether the driver says that its connection was ended from here: by us, or because it is not where we want to be. */
function isEnded(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "CONNECTION_DESTROYED";
}

/** A driver for one connection, made when it is first used and again after it was lost. */
export function connect(
  { url, password, prepare, connectMsMax = 5_000 }: DriverOptions,
  hooks: {
    readonly onnotify?: (channel: string, payload: string) => void;
    readonly onclose?: () => void;
  } = {},
): Sql {
  return postgres(url, {
    ...serverAddress(url),
    // Nobody would catch a failure in there: without a password the server says what it thinks of us.
    ...(password !== undefined && { password: () => password().catch(() => "") }),
    // Never a standby: what it has may be old, and a read must see every write (S7).
    target_session_attrs: sessionTarget(url),
    max: 1,
    prepare,
    idle_timeout: 0,
    connect_timeout: connectMsMax / 1000,
    backoff: () => 0.1,
    fetch_types: false,
    onnotice: () => undefined,
    // Nothing else: poolers refuse parameters of a start that they do not know.
    connection: { application_name: "keelson-store" },
    ...hooks,
  });
}
