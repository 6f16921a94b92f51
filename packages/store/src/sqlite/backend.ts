// Objects and their log in one SQLite file. Everything is synchronous: a transaction is one turn of the event loop.

import { chmodSync, closeSync, existsSync, openSync, realpathSync } from "node:fs";
import type { Clock } from "@keelson/base";
import type {
  Backend,
  Bounds,
  Claim,
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
import { fromColumns, storedBody } from "../columns.ts";
import { Expired, TooNew } from "../errors.ts";
import { joinKind, type Key, type Scope, splitKind } from "../key.ts";
import { type LogRow, toEntry } from "../log-row.ts";
import type { Revision } from "../revision.ts";
import { Connection, keyParameters, openReader, openWriter } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { lockFile } from "./lock.ts";
import { type ObjectRow, scanAt, scanNow } from "./scan.ts";

export interface SqliteOptions {
  /** A file, made if it is missing; or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly onStatement?: OnStatement;
}

/** How far the counter jumps when the file was restored: further than anybody can have counted meanwhile. */
const leapRevisions = 2 ** 32;

/**
 * One writer, which makes revision order free: revisions are assigned inside the
 * transaction, and no other runs at the same time (S2). Reads have a connection of
 * their own and see what is committed.
 */
export class SqliteBackend implements Backend {
  readonly name = "sqlite";
  readonly #clock: Clock;
  readonly #lock: Disposable | undefined;
  readonly #writer: Connection;
  readonly #reader: Connection;
  #bounds: Bounds;
  /** Whether `#bounds` may be behind the file. */
  #isUncertain = false;

  /** Opens and migrates the file. Locked if another process serves it. */
  constructor({ path, clock, onStatement = () => undefined }: SqliteOptions) {
    this.#clock = clock;
    const isFile = path !== ":memory:";
    if (isFile) makePrivate(path);
    this.#lock = isFile ? lockFile(realpathSync(path)) : undefined;
    using opened = new DisposableStack();
    if (this.#lock !== undefined) opened.use(this.#lock);
    try {
      this.#writer = opened.adopt(new Connection(openWriter(path), onStatement), (it) =>
        it.close(),
      );
      this.#reader = isFile
        ? opened.adopt(new Connection(openReader(path), onStatement), (it) => it.close())
        : this.#writer;
      this.#bounds = this.#boundsNow();
    } catch (error) {
      throw toStoreError(error);
    }
    opened.move(); // From here on closing is ours.
  }

  async commit(batch: readonly Write[]): Promise<{ head: Revision; outcomes: readonly Outcome[] }> {
    return this.#transaction(() => {
      let { head } = this.#bounds;
      const growth = new Map<
        string,
        { group: string; kind: string; namespace: string; objects: number }
      >();
      const now = timestamp(this.#clock);
      const outcomes = batch.map((write): Outcome => {
        const outcome = this.#apply(write, head + 1, now);
        if (outcome.type !== "written") return outcome;
        head = outcome.revision; // S2: assigned inside the only transaction there is.
        if (write.type !== "update") addGrowth(growth, write.key, write.type === "create" ? 1 : -1);
        return outcome;
      });
      if (head !== this.#bounds.head) {
        for (const { group, kind, namespace, objects } of growth.values()) {
          this.#writer.run("addCount", group, kind, namespace, objects);
        }
        this.#writer.run("updateHead", head);
      }
      return { result: { head, outcomes }, bounds: { ...this.#bounds, head } };
    });
  }

  async read(key: Key, signal: AbortSignal): Promise<{ head: Revision; row: Row | undefined }> {
    signal.throwIfAborted();
    return this.#read(() => {
      const found = this.#reader.one("selectObject", ...keyParameters(key)) as
        | ObjectRow
        | undefined;
      const { head } = this.#bounds;
      if (found === undefined) return { head, row: undefined };
      const { uid, resource_version: revision, object } = found;
      return { head, row: { key, uid, revision, body: fromColumns(key, object) } };
    });
  }

  async head(signal: AbortSignal): Promise<Revision> {
    signal.throwIfAborted();
    return this.#bounds.head;
  }

  async bounds(signal: AbortSignal): Promise<Bounds> {
    signal.throwIfAborted();
    return this.#read(() => this.#boundsNow());
  }

  async scan(request: ScanRequest, signal: AbortSignal): Promise<Scanned> {
    signal.throwIfAborted();
    return this.#read(() => {
      const { head, floor } = this.#boundsNow();
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
    signal.throwIfAborted();
    return this.#read(() => {
      const { kind, group } = splitKind(scope.kind);
      const { namespace } = scope;
      const now = this.#reader.one("selectCount", group, kind, namespace, namespace)?.["objects"];
      const { head, floor } = this.#boundsNow();
      if (at === undefined || at >= head) return Number(now);
      if (at < floor) throw new Expired(at, floor);
      const since = this.#reader.one("selectGrowthSince", at, group, kind, namespace, namespace);
      return Number(now) - Number(since?.["objects"]);
    });
  }

  async countByKind(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    signal.throwIfAborted();
    return this.#read(() => {
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
    signal.throwIfAborted();
    return this.#read(() => {
      const { head, floor } = this.#boundsNow();
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
    signal.throwIfAborted();
    return this.#read(() => {
      const rows = this.#reader.all(
        "selectHistory",
        ...keyParameters(key),
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      );
      return rows
        .map((row) => toEntry(row as unknown as LogRow))
        .filter(({ revision }) => revision > this.#boundsNow().floor);
    });
  }

  async cut(
    upTo: Revision,
    entries: number,
    signal: AbortSignal,
  ): Promise<Bounds & { done: boolean }> {
    signal.throwIfAborted();
    return this.#transaction(() => {
      const target = Math.min(upTo, this.#bounds.head);
      const next = this.#writer.one("selectCut", target, entries)?.["revision"];
      const done = next === undefined;
      const last = done ? target : Number(next) - 1;
      // Everything before the next entry that stays goes, and the floor says so in the same transaction (S13).
      const floor = Math.max(this.#bounds.floor, last);
      const head = done ? this.#bounds.head + 1 : this.#bounds.head;
      this.#writer.run("deleteChanges", last);
      this.#writer.run("updateBounds", head, floor);
      return { result: { head, floor, done }, bounds: { head, floor } };
    });
  }

  async leap(signal: AbortSignal): Promise<Bounds> {
    signal.throwIfAborted();
    return this.#transaction(() => {
      const head = this.#bounds.head + leapRevisions;
      this.#writer.run("updateBounds", head, head);
      return { result: { head, floor: head }, bounds: { head, floor: head } };
    });
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
    signal.throwIfAborted();
    this.#read(() => this.#reader.one("selectBounds"));
  }

  async size(signal: AbortSignal): Promise<Size> {
    signal.throwIfAborted();
    return this.#read(() => {
      const size = this.#reader.one("selectSize");
      return { logRows: Number(size?.["log_rows"]), bytes: Number(size?.["bytes"]) };
    });
  }

  /** Nobody else can commit. */
  onWake(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#reader !== this.#writer) this.#reader.close();
    this.#writer.close();
    this.#lock?.[Symbol.dispose]();
  }

  /** Object and log row, or nothing at all (S3). */
  #apply(write: Write, revision: Revision, now: string): Outcome {
    const key = keyParameters(write.key);
    if (write.type === "create") {
      const { uid, apiVersion, generation, labels, deletedAt } = write.columns;
      const { text } = write.body;
      const { changes } = this.#writer.run(
        "insertObject",
        ...key,
        revision,
        uid,
        apiVersion,
        generation,
        labels,
        deletedAt,
        text,
        now,
        now,
      );
      if (changes === 0) return { type: "exists" };
      this.#writer.run("insertChange", revision, "ADDED", ...key, uid, text, null, null);
      return { type: "written", revision };
    }

    const current = this.#writer.one("selectObject", ...key) as ObjectRow | undefined;
    if (current === undefined) return { type: "missing" };
    const { expect } = write;
    const actual = { revision: current.resource_version, uid: current.uid };
    // S5: compared inside the transaction that writes.
    if (expect.revision !== undefined && expect.revision !== actual.revision)
      return { type: "conflict", actual };
    if (expect.uid !== undefined && expect.uid !== actual.uid) return { type: "conflict", actual };
    const previous = { ...actual, body: storedBody(write.key, current.object) };

    if (write.type === "delete") {
      const { text } = write.final ?? previous.body;
      this.#writer.run("deleteObject", ...key);
      this.#writer.run(
        "insertChange",
        revision,
        "DELETED",
        ...key,
        actual.uid,
        text,
        write.final === undefined ? null : current.object,
        actual.revision,
      );
      return { type: "written", revision, previous };
    }

    const { text } = write.body;
    if (text === current.object) return { type: "unchanged", revision: actual.revision };
    const { uid, apiVersion, generation, labels, deletedAt } = write.columns;
    this.#writer.run(
      "updateObject",
      revision,
      uid,
      apiVersion,
      generation,
      labels,
      deletedAt,
      text,
      now,
      ...key,
    );
    this.#writer.run(
      "insertChange",
      revision,
      "MODIFIED",
      ...key,
      uid,
      text,
      current.object,
      actual.revision,
    );
    return { type: "written", revision, previous };
  }

  /** Floor and head as they stand in the file. Nothing can be committed within a turn, so they fit what is read next. */
  #boundsNow(): Bounds {
    return { ...(this.#reader.one("selectBounds") as unknown as Bounds) };
  }

  #read<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Whatever a failed COMMIT left behind, the next revision goes after what the file says (S1). */
  #recover(): void {
    try {
      this.#writer.rollback();
      this.#bounds = this.#boundsNow();
    } catch {
      // A file that cannot be read now is asked again before the next write; the first failure is the one to tell.
      this.#isUncertain = true;
    }
  }

  /** Runs in one turn: begin, `run`, commit, and only then the new bounds are true. */
  #transaction<T>(run: () => { readonly result: T; readonly bounds: Bounds }): T {
    try {
      if (this.#isUncertain) this.#bounds = this.#boundsNow();
      this.#isUncertain = false;
      this.#writer.run("begin");
      try {
        const { result, bounds } = run();
        this.#writer.run("commit");
        this.#bounds = bounds;
        return result;
      } catch (error) {
        this.#recover();
        throw error;
      }
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
    if (existsSync(file)) chmodSync(file, 0o600);
    else closeSync(openSync(file, "a", 0o600));
  };
  create(path);
  create(`${realpathSync(path)}.lock`);
}

function addGrowth(
  growth: Map<string, { group: string; kind: string; namespace: string; objects: number }>,
  key: Key,
  objects: number,
): void {
  const { kind, group } = splitKind(key.kind);
  const id = `${key.kind}\0${key.namespace}`;
  const entry = growth.get(id) ?? { group, kind, namespace: key.namespace, objects: 0 };
  entry.objects += objects;
  growth.set(id, entry);
}

/** As SQLite's CURRENT_TIMESTAMP writes it, with milliseconds. */
function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace("T", " ").replace("Z", "");
}
