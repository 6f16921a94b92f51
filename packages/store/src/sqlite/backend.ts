// Objects and their log in one SQLite file.

import { chmodSync, closeSync, openSync, realpathSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "@keelson/base";
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
import { storedBody } from "../columns.ts";
import { Expired, TooNew, Unavailable } from "../errors.ts";
import { joinKind, type Key, type Scope, splitKind } from "../key.ts";
import { type LogRow, toEntry } from "../log-row.ts";
import type { Revision } from "../revision.ts";
import { Checkpointer } from "./checkpointer.ts";
import { Connection, keyParameters, openReader, openWriter } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { lockFile } from "./lock.ts";
import { rowOf, scanAt, scanNow } from "./scan.ts";
import { type PlainOutcome, type PlainWrite, Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

export interface SqliteOptions {
  /** A file, made if it is missing; or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly onStatement?: OnStatement;
}

/**
 * One connection at a time writes (writer.ts), and one reads what is committed. What a hook must
 * see, and a database in memory, have no thread: each transaction is one turn of the event loop.
 */
export class SqliteBackend implements Backend {
  readonly name = "sqlite";
  readonly #clock: Clock;
  readonly #lock: Disposable | undefined;
  readonly #isFile: boolean;
  readonly #writer: Writer;
  readonly #checkpointer: Checkpointer | undefined;
  readonly #reader: Connection;

  /** Opens and migrates the file. Locked if another process serves it; what the system says of its path is thrown as it is. */
  constructor({ path, clock, onStatement }: SqliteOptions) {
    this.#clock = clock;
    const isFile = path !== ":memory:";
    this.#isFile = isFile;
    const isInTurn = !isFile || onStatement !== undefined;
    if (isFile) makePrivate(path);
    using opened = new DisposableStack();
    const adopt = (database: DatabaseSync): Connection =>
      opened.adopt(new Connection(database, onStatement ?? (() => undefined)), (it) => it.close());
    try {
      this.#lock = isFile ? opened.use(lockFile(realpathSync(path))) : undefined;
      const writer = adopt(openWriter(path)); // It migrates.
      this.#reader = isFile ? adopt(openReader(path)) : writer;
      const transactions = new Transactions(writer);
      this.#writer = new Writer(transactions, isInTurn ? undefined : path);
      this.#checkpointer = isInTurn ? undefined : new Checkpointer(path, clock);
    } catch (error) {
      throw toStoreError(error);
    }
    opened.move(); // From here on closing is ours.
  }

  commitsAside(writes: number): boolean {
    return this.#writer.commitsAside(writes);
  }

  async commit(batch: readonly Write[]): Promise<{ head: Revision; outcomes: readonly Outcome[] }> {
    const { head, outcomes } = await this.#write(() =>
      this.#writer.commit(batch.map(plain), timestamp(this.#clock)),
    );
    this.#checkpointer?.note(batch.length);
    return { head, outcomes: outcomes.map((outcome, n) => outcomeOf(outcome, batch[n])) };
  }

  async read(key: Key, signal: AbortSignal): Promise<{ head: Revision; row: Row | undefined }> {
    return this.#read(signal, ({ head }) => ({ head, row: rowOf(this.#reader, key) }));
  }

  async head(signal: AbortSignal): Promise<Revision> {
    signal.throwIfAborted();
    return this.#writer.bounds.head;
  }

  headNow(): Revision {
    return this.#writer.bounds.head;
  }

  async bounds(signal: AbortSignal): Promise<Bounds> {
    return this.#read(signal, (bounds) => bounds);
  }

  async scan(request: ScanRequest, signal: AbortSignal): Promise<Scanned> {
    return this.#read(signal, ({ head, floor }) => {
      const at = request.at ?? head;
      if (at > head) throw new TooNew(at, head);
      if (at < floor) throw new Expired(at, floor);
      const { rows, reached } =
        at === head
          ? scanNow(this.#reader, request, head)
          : scanAt(this.#reader, request, { at, head });
      return { rows, reached, head, floor };
    });
  }

  async count(scope: Scope, at: Revision | undefined, signal: AbortSignal): Promise<number> {
    return this.#read(signal, ({ head, floor }) => {
      const { kind, group } = splitKind(scope.kind);
      const { namespace } = scope;
      const now = this.#reader.one("selectCount", group, kind, namespace, namespace)?.["objects"];
      if (at === undefined || at >= head) return Number(now);
      if (at < floor) throw new Expired(at, floor);
      const since = this.#reader.one("selectGrowthSince", at, group, kind, namespace, namespace);
      return Number(now) - Number(since?.["objects"]);
    });
  }

  async countByKind(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#read(signal, () => {
      const rows = this.#reader.all("selectCounts");
      return new Map(
        rows.map((row) => [
          joinKind(String(row["kind"]), String(row["api_group"])),
          Number(row["objects"]),
        ]),
      );
    });
  }

  async log(after: Revision, limits: LogLimits, signal: AbortSignal): Promise<LogPage> {
    return this.#read(signal, ({ head, floor }) => {
      if (after < floor) throw new Expired(after, floor);
      const last = Math.min(limits.through ?? head, head);
      const entries: LogEntry[] = [];
      let text = 0;
      for (const row of this.#reader.iterate("selectLog", after, last, limits.entries)) {
        const change = row as unknown as LogRow;
        text += change.object.length + (change.previous?.length ?? 0);
        if (entries.length > 0 && text > limits.text)
          return { entries, through: entries.at(-1)?.revision ?? after, head, floor };
        entries.push(toEntry(change));
      }
      const isCut = entries.length === limits.entries;
      const through = isCut ? (entries.at(-1)?.revision ?? after) : Math.max(last, after);
      return { entries, through, head, floor };
    });
  }

  async history(
    key: Key,
    { before, limit }: { readonly before: Revision | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]> {
    return this.#read(signal, ({ floor }) => {
      const rows = this.#reader.all(
        "selectHistory",
        ...keyParameters(key),
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      );
      return rows
        .map((row) => toEntry(row as unknown as LogRow))
        .filter(({ revision }) => revision > floor);
    });
  }

  async cut(
    upTo: Revision,
    limits: CutLimits,
    signal: AbortSignal,
  ): Promise<Bounds & { done: boolean }> {
    signal.throwIfAborted();
    return this.#write(() => this.#writer.cut(upTo, limits));
  }

  async leap(signal: AbortSignal): Promise<Bounds> {
    signal.throwIfAborted();
    return this.#write(() => this.#writer.leap());
  }

  /** One process serves the file, so every claim is granted. */
  async claim(_name: string, _request: object, signal: AbortSignal): Promise<Claim> {
    signal.throwIfAborted();
    return { token: 1 };
  }

  async release(): Promise<void> {
    // Nobody else could want it.
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#read(signal, (bounds) => bounds);
  }

  async size(signal: AbortSignal): Promise<Size> {
    return this.#read(signal, (bounds) => {
      const size = this.#reader.one("selectSize");
      return { ...bounds, logRows: Number(size?.["log_rows"]), bytes: Number(size?.["bytes"]) };
    });
  }

  /** Nobody else can commit. */
  onWake(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The writer last: closing it puts the whole log of the file into the file.
    if (this.#isFile) this.#reader.close();
    await this.#checkpointer?.[Symbol.asyncDispose]();
    await this.#writer[Symbol.asyncDispose]();
    this.#lock?.[Symbol.dispose]();
  }

  /**
   * What is read is of one moment; `run` is told which. A commit that the file has and this thread has not heard of is waited
   * for: whoever is answered from memory next must not see less (S7).
   */
  async #read<T>(signal: AbortSignal, run: (bounds: Bounds) => T): Promise<T> {
    signal.throwIfAborted();
    const look = (): { readonly result: T; readonly head: Revision } => {
      const bounds = this.#reader.bounds();
      return { result: run(bounds), head: bounds.head };
    };
    try {
      const { result, head } = this.#writer.isResting ? look() : this.#reader.snapshot(look);
      if (head > this.#writer.bounds.head) await this.#writer.settled();
      return result;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** A transaction of the writer. */
  async #write<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

/**
 * Makes the files before SQLite does, for us alone; it gives those beside a database the same mode.
 * A file that is there is not opened: closing it would drop the locks this process has on it.
 */
function makePrivate(path: string): void {
  const create = (file: string): void => {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there === undefined) closeSync(openSync(file, "a", 0o600));
    // A folder, or a device, would be taken from whoever else uses it.
    else if (!there.isFile()) throw new Unavailable("the database file cannot be used: it is none");
    else chmodSync(file, 0o600);
  };
  create(path);
  create(`${realpathSync(path)}.lock`);
}

function plain(write: Write): PlainWrite {
  const { key } = write;
  switch (write.type) {
    case "create":
      return { type: "create", key, text: write.body.text, columns: write.columns };
    case "update": {
      const { columns, expect, replaced } = write;
      const { text } = write.body;
      const isKnownChange = replaced !== undefined && replaced.text !== text;
      return { type: "update", key, text, columns, expect, isKnownChange };
    }
    case "delete":
      return { type: "delete", key, expect: write.expect, final: write.final?.text };
  }
}

function outcomeOf(outcome: PlainOutcome, write: Write | undefined): Outcome {
  if (outcome.type !== "written" || outcome.previous === undefined) return outcome;
  const { text, ...previous } = outcome.previous;
  if (text === undefined || write === undefined) return { ...outcome, previous };
  return { ...outcome, previous: { ...previous, body: storedBody(write.key, text) } };
}

/** As SQLite's CURRENT_TIMESTAMP writes it, with milliseconds. */
function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace("T", " ").replace("Z", "");
}
