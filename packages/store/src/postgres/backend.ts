// Objects and their log in PostgreSQL: several processes may share one database.

import {
  type Clock,
  type Log,
  type Metrics,
  noMetrics,
  type Random,
  silentLog,
  systemRandom,
  TaskScope,
} from "@keelson/base";
import type { Sql } from "postgres";
import type {
  Backend,
  Bounds,
  Claim,
  CutLimits,
  LogEntry,
  LogLimits,
  LogPage,
  OnStatement,
  Outcome,
  Row,
  Scanned,
  ScanRequest,
  Size,
  Write,
} from "../backend.ts";
import { checkedBody, fromColumns, storedBody } from "../columns.ts";
import { Expired, TooNew, Unavailable } from "../errors.ts";
import { comparePositions, joinKind, type Key, type Position, type Scope } from "../key.ts";
import { storeMetrics, type StoreMetrics } from "../metrics.ts";
import { toEntry } from "../log-row.ts";
import type { Revision } from "../revision.ts";
import { Connection } from "./connection.ts";
import { checkSchema, forbidden } from "./migrate.ts";
import { channel, Notifications } from "./notifications.ts";
import { SharedRead } from "./shared-read.ts";
import {
  type BoundsRow,
  type OutcomeRow,
  type LogRow,
  type ScanRow,
  statementsOf,
} from "./statements.ts";

export interface PostgresOptions {
  readonly url: string;
  /** Asked for each connection, where the URL has no password: it may be another by then. */
  readonly password?: (() => Promise<string>) | undefined;
  readonly schema?: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly onStatement?: OnStatement;
  /** Connections for reads, beside one for writes and one that listens. */
  readonly readers?: number;
  /** The longest a call may take. */
  readonly callMsMax?: number;
  /** The longest that making a connection may take. */
  readonly connectMsMax?: number;
  /** Off behind a pooler that does not keep prepared statements. */
  readonly prepare?: boolean;
}

/**
 * Revisions come from one counter row, locked inside each batch's single round trip
 * and held to its commit (S2): never from a sequence, which hands out numbers before
 * commit, so that a reader of the log would see 7 before 6.
 */
export class PostgresBackend implements Backend {
  readonly name = "postgresql";
  readonly #statements: ReturnType<typeof statementsOf>;
  readonly #metrics: StoreMetrics;
  readonly #writer: Connection;
  readonly #readers: readonly Connection[];
  /** All of them. */
  readonly #connections: readonly Connection[];
  readonly #notifications: Notifications;
  readonly #head: SharedRead<Revision>;
  readonly #scope = new TaskScope(new AbortController().signal);

  /** Connects. Refuses a database that is not migrated, or by a version this one cannot read. */
  static async open(options: PostgresOptions, signal: AbortSignal): Promise<PostgresBackend> {
    const { url, schema = "ark" } = options;
    const backend = new PostgresBackend(options);
    try {
      await backend.#readers[0]?.run("checkSchema", (sql) => checkSchema(sql, schema), signal);
      await backend.#adopt(options.log ?? silentLog, signal);
    } catch (error) {
      await backend[Symbol.asyncDispose]();
      throw forbidden(error, { url, schema, what: "use" }) ?? error;
    }
    return backend;
  }

  private constructor(options: PostgresOptions) {
    const { url, password, schema = "ark", clock, connectMsMax } = options;
    const { random = systemRandom, log = silentLog } = options;
    const {
      onStatement = () => undefined,
      readers = 4,
      callMsMax = 10_000,
      prepare = true,
    } = options;
    this.#statements = statementsOf(schema, lockShare * callMsMax);
    this.#metrics = storeMetrics(options.metrics ?? noMetrics);
    const driver = { url, password, prepare, connectMsMax };
    const onChange = (): void => this.#measurePool();
    const connection = { ...driver, clock, callMsMax, onStatement, onChange };
    this.#writer = new Connection(connection);
    this.#readers = Array.from({ length: readers }, () => new Connection(connection));
    this.#connections = [this.#writer, ...this.#readers];
    this.#head = new SharedRead(async () => {
      const [row] = await this.#query("selectHead", this.#statements.selectBounds);
      return Number(need(row).head);
    });
    this.#notifications = new Notifications({
      driver,
      notify: async (payload, signal) => {
        await this.#query(
          "notify",
          (sql) => this.#statements.notify(sql, channel, payload),
          signal,
        );
      },
      onChange,
      onDoubt: (signal) => this.#adopt(log, signal),
      clock,
      random,
      log,
      metrics: this.#metrics,
    });
    this.#scope.spawn("wake-ups", (signal) => this.#notifications.run(signal));
  }

  async commit(batch: readonly Write[]): Promise<{ head: Revision; outcomes: readonly Outcome[] }> {
    const [only] = batch;
    const rows = await (only !== undefined && batch.length === 1
      ? this.#writer.run("writeOne", (sql) => this.#statements.writeOne(sql, only))
      : this.#writer.run("writeBatch", (sql) => this.#statements.writeBatch(sql, batch)));
    const outcomes = rows
      .toSorted((a, b) => Number(a.ordinal) - Number(b.ordinal))
      .map((row, index) => toOutcome(row, need(batch[index]).key));
    return { head: Number(need(rows[0]).head), outcomes };
  }

  async read(key: Key, signal: AbortSignal): Promise<{ head: Revision; row: Row | undefined }> {
    const [found] = await this.#query(
      "selectObject",
      (sql) => this.#statements.selectObject(sql, key),
      signal,
    );
    const { head, uid, resource_version: revision, object } = need(found);
    if (uid === undefined || uid === null || typeof object !== "string")
      return { head: Number(head), row: undefined };
    return {
      head: Number(head),
      row: { key, uid, revision: Number(revision), body: fromColumns(key, object) },
    };
  }

  async head(signal: AbortSignal): Promise<Revision> {
    return this.#head.get(signal);
  }

  async bounds(signal: AbortSignal): Promise<Bounds> {
    const [row] = await this.#query("selectBounds", this.#statements.selectBounds, signal);
    return toBounds(need(row));
  }

  async scan(request: ScanRequest, signal: AbortSignal): Promise<Scanned> {
    const { at } = request;
    const rows = await this.#query(
      at === undefined ? "scanNow" : "scanAt",
      (sql) =>
        at === undefined
          ? this.#statements.scanNow(sql, request)
          : this.#statements.scanAt(sql, request, at),
      signal,
    );
    const bounds = toBounds(need(rows[0]));
    if (at !== undefined && at > bounds.head) throw new TooNew(at, bounds.head);
    if (at !== undefined && at < bounds.floor) throw new Expired(at, bounds.floor);
    const stretch = toStretch(rows, request);
    request.known?.learn(stretch.current, bounds.head);
    return { ...bounds, rows: stretch.rows, reached: stretch.reached };
  }

  async count(scope: Scope, at: Revision | undefined, signal: AbortSignal): Promise<number> {
    const [row] = await this.#query(
      "selectCount",
      (sql) => this.#statements.selectCount(sql, scope, at),
      signal,
    );
    const { objects, floor } = need(row);
    if (at !== undefined && at < Number(floor)) throw new Expired(at, Number(floor));
    return Number(objects);
  }

  async countByKind(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#query("selectCounts", this.#statements.selectCounts, signal);
    return new Map(
      rows.map(({ kind, api_group, objects }) => [joinKind(kind, api_group), Number(objects)]),
    );
  }

  async log(after: Revision, limits: LogLimits, signal: AbortSignal): Promise<LogPage> {
    const rows = await this.#query(
      "selectLog",
      (sql) => this.#statements.selectLog(sql, after, limits),
      signal,
    );
    const bounds = toBounds(need(rows[0]));
    if (after < bounds.floor) throw new Expired(after, bounds.floor);
    const found = rows.filter(
      (row): row is LogRow & { readonly revision: string } => row.revision !== null,
    );
    const entries = found.map(toEntry);
    const last = entries.at(-1)?.revision;
    const isCut =
      entries.length === limits.entries || entries.length < Number(found[0]?.entries ?? 0);
    const end = Math.max(after, Math.min(limits.through ?? bounds.head, bounds.head));
    return { ...bounds, entries, through: isCut && last !== undefined ? last : end };
  }

  async history(
    key: Key,
    { before, limit }: { readonly before: Revision | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]> {
    const rows = await this.#query(
      "selectHistory",
      (sql) => this.#statements.selectHistory(sql, key, before, limit),
      signal,
    );
    return rows.map(toEntry);
  }

  async cut(
    upTo: Revision,
    limits: CutLimits,
    signal: AbortSignal,
  ): Promise<Bounds & { done: boolean }> {
    // Before the counter is locked. Nobody adds to this end of the log.
    const [counted] = await this.#query(
      "countCut",
      (sql) => this.#statements.countCut(sql, upTo, limits),
      signal,
    );
    const entries = Math.max(1, Number(counted?.entries));
    signal.throwIfAborted();
    const [row] = await this.#writer.run("cut", (sql) => this.#statements.cut(sql, upTo, entries));
    const { done, ...bounds } = need(row);
    return { ...toBounds(bounds), done };
  }

  async leap(signal: AbortSignal): Promise<Bounds> {
    signal.throwIfAborted();
    const [row] = await this.#writer.run("leap", this.#statements.leap);
    return toBounds(need(row));
  }

  async claim(
    name: string,
    request: { readonly holder: string; readonly ttlMs: number },
    signal: AbortSignal,
  ): Promise<Claim | undefined> {
    const [row] = await this.#query(
      "claim",
      (sql) => this.#statements.claim(sql, name, request),
      signal,
    );
    return row === undefined ? undefined : { token: Number(row.token) };
  }

  async release(name: string, holder: string, signal: AbortSignal): Promise<void> {
    await this.#query("release", (sql) => this.#statements.release(sql, name, holder), signal);
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#query("ping", this.#statements.ping, signal);
  }

  async size(signal: AbortSignal): Promise<Size> {
    const [row] = await this.#query("selectSize", this.#statements.selectSize, signal);
    const { log_rows: logRows, bytes, ...bounds } = need(row);
    return { ...toBounds(bounds), logRows: Number(logRows), bytes: Number(bytes) };
  }

  onWake(listener: (committed?: Revision) => void): Disposable {
    return this.#notifications.onWake(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]();
    await Promise.all(this.#connections.map((connection) => connection[Symbol.asyncDispose]()));
  }

  /** On the connection with the least to do; calls that overlap on it are pipelined. */
  async #query<T extends readonly object[]>(
    name: string,
    statement: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const connection = this.#readers.reduce((least, other) =>
      other.inFlight < least.inFlight ? other : least,
    );
    return connection.run(name, statement, signal);
  }

  /** Calls that overlap on a connection wait for each other; those of one that is not open, for it. */
  #measurePool(): void {
    let open = this.#notifications.isConnected ? 1 : 0;
    let inUse = 0;
    let inFlight = 0;
    for (const connection of this.#connections) {
      open += connection.open;
      if (connection.open > 0 && connection.inFlight > 0) inUse += 1;
      inFlight += connection.inFlight;
    }
    this.#metrics.poolOpen.set(open);
    this.#metrics.poolInUse.set(inUse);
    this.#metrics.poolWaiting.set(inFlight - inUse);
  }

  /** A state that was restored elsewhere, or taken over by another timeline, must not honour lost revisions. */
  async #adopt(log: Log, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      const [row] = await this.#writer.run("adopt", this.#statements.adopt);
      if (row?.leapt === true)
        log.warn({}, "the database was restored or failed over: older revisions expire");
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      log.debug(
        { error },
        "cannot tell which database this is; after a restore run the restore command",
      );
    }
  }
}

/** How much of a call may pass in waiting for the counter: the rest is for what comes then. */
const lockShare = 0.9;

function toBounds({ head, floor }: BoundsRow): Bounds {
  return { head: Number(head), floor: Number(floor) };
}

function toOutcome(row: OutcomeRow, key: Key): Outcome {
  const { verdict } = row;
  const actual = { revision: Number(row.actual_revision), uid: row.actual_uid ?? "" };
  switch (verdict) {
    case "written": {
      const revision = Number(row.revision);
      if (row.actual_revision === null) return { type: "written", revision };
      const body = row.body_before === null ? {} : { body: storedBody(key, row.body_before) };
      return { type: "written", revision, previous: { ...actual, ...body } };
    }
    case "unchanged":
      return { type: "unchanged", revision: actual.revision };
    case "conflict":
      return { type: "conflict", actual };
    case "exists":
    case "missing":
      return { type: verdict };
  }
}

/**
 * Rows in order, and how far the stretch reaches: neither live nor deleted keys may run ahead of the other. Those that
 * are still as they were then are `current`.
 */
function toStretch(
  rows: readonly ScanRow[],
  request: ScanRequest,
): Pick<Scanned, "rows" | "reached"> & { readonly current: readonly Row[] } {
  const ends = (["live", "deleted"] as const)
    .map((origin) => rows.filter((row) => row.origin === origin))
    .filter(({ length }) => length === request.walk)
    .map((full) => full.toSorted(comparePositions).at(-1))
    .filter((row) => row !== undefined);
  const [reached]: Position[] = ends.toSorted(comparePositions);
  const current: Row[] = [];
  const found = rows
    .filter((row) => row.origin !== null && row.origin !== "deleted" && row.object !== null)
    .filter((row) => reached === undefined || comparePositions(row, reached) <= 0)
    .map((scanned) => {
      const key = { kind: request.scope.kind, namespace: scanned.namespace, name: scanned.name };
      const text = scanned.object ?? "";
      const known = request.known?.find(key)?.body;
      // What memory has was whole when it came there: a text that is equal to it need not be read to see that it is.
      const body = known?.text === text ? known : checkedBody(key, text);
      const row = { key, uid: scanned.uid, revision: Number(scanned.resource_version), body };
      if (scanned.origin === "live") current.push(row);
      return row;
    });
  const end =
    reached === undefined ? undefined : { namespace: reached.namespace, name: reached.name };
  return {
    rows: request.at === undefined ? found : found.sort((a, b) => comparePositions(a.key, b.key)),
    reached: end,
    current,
  };
}

function need<T>(row: T | undefined): T {
  if (row === undefined) throw new Error("a row that must be there is missing");
  return row;
}
