// The port behind which a database lives: whole operations, each one transaction or one snapshot.

import type { Body } from "./body.ts";
import type { Columns } from "./columns.ts";
import type { Key, Position, Scope } from "./key.ts";
import type { Expect, Revision } from "./revision.ts";
import type { LabelRequirement } from "./selector.ts";

/** One write of a batch. No two writes of a batch name the same object. */
export type Write =
  | { readonly type: "create"; readonly key: Key; readonly body: Body; readonly columns: Columns }
  | {
      readonly type: "update";
      readonly key: Key;
      readonly body: Body;
      readonly columns: Columns;
      readonly expect: Expect & { readonly revision: Revision };
      /** The body at that revision, where it is at hand. */
      readonly replaced: Body | undefined;
    }
  | {
      readonly type: "delete";
      readonly key: Key;
      readonly expect: Expect;
      /** The last body, if removing the object also changes it. */
      readonly final: Body | undefined;
    };

/** What became of one write. */
export type Outcome =
  | {
      readonly type: "written";
      readonly revision: Revision;
      /** The object before; absent for a create. The body is there if the backend had it at hand. */
      readonly previous?: {
        readonly revision: Revision;
        readonly uid: string;
        readonly body?: Body;
      };
    }
  /** An update to an equal body: nothing was written. */
  | { readonly type: "unchanged"; readonly revision: Revision }
  | { readonly type: "exists" }
  | { readonly type: "missing" }
  | { readonly type: "conflict"; readonly actual: Required<Expect> };

/** An object as it stands at some revision. */
export interface Row {
  readonly key: Key;
  readonly uid: string;
  readonly revision: Revision;
  readonly body: Body;
}

export type LogType = "ADDED" | "MODIFIED" | "DELETED";

/** An entry of the log. */
export interface LogEntry {
  readonly revision: Revision;
  readonly type: LogType;
  readonly key: Key;
  readonly uid: string;
  /** The new body; for DELETED the last state. */
  readonly body: Body;
  /** The object before; absent for ADDED. */
  readonly previous?: { readonly revision: Revision; readonly body: Body };
}

/** Where a snapshot stands: the log holds every change after `floor` up to `head`. */
export interface Bounds {
  readonly head: Revision;
  readonly floor: Revision;
}

/** A stretch of a collection, in its order. */
export interface ScanRequest {
  readonly scope: Scope;
  /** Only objects after this place. */
  readonly after: Position | undefined;
  /** How many objects to walk over, matching or not. */
  readonly walk: number;
  /** The state at this revision, at or above the floor; undefined: now. */
  readonly at: Revision | undefined;
  /** A filter the database may apply; the caller applies it again. */
  readonly labels: readonly LabelRequirement[];
  /** Only the object of this name, in any namespace of the scope. */
  readonly name: string | undefined;
  /** What need not be read to know the state now. */
  readonly known?: KnownRows;
}

/** Objects in memory, each as it stands at `at`. */
export interface KnownRows {
  readonly at: Revision;
  find(key: Key): Row | undefined;
  /** Told of objects as they stood when `head` was the newest revision. */
  learn(rows: readonly Row[], head: Revision): void;
}

export interface Scanned extends Bounds {
  readonly rows: readonly Row[];
  /** Everything up to here was walked; undefined: the collection ends here. */
  readonly reached: Position | undefined;
}

export interface LogLimits {
  /** No change after this revision. */
  readonly through?: Revision;
  readonly entries: number;
  /** Characters of bodies; a single larger entry still comes. */
  readonly text: number;
}

/** How much one transaction cuts off the log; a single larger entry still goes. */
export interface CutLimits {
  readonly entries: number;
  /** Of the bodies, about: to free their pages takes as long as they are many. */
  readonly bytes: number;
}

export interface LogPage extends Bounds {
  readonly entries: readonly LogEntry[];
  /** The page holds every change after the requested revision up to this one. */
  readonly through: Revision;
}

/** A claim on work that one process at a time may do. */
export interface Claim {
  /** Rises with every change of holder: writes made under an older one must not count. */
  readonly token: number;
}

export interface Size extends Bounds {
  /** Entries after the floor, about: a revision without a change is counted too. */
  readonly logRows: number;
  /** What the tables and their indexes take. */
  readonly bytes: number;
}

/**
 * A database that keeps objects and their log.
 *
 * Every method is one transaction or one snapshot. Failures are `StoreError`s
 * of code Unavailable, Full or Corrupt; nothing is retried here.
 */
export interface Backend extends AsyncDisposable {
  readonly name: "sqlite" | "postgresql";

  /**
   * Whether a batch of so many writes would be committed while we go on, and so would others that are sent meanwhile: one after
   * the other, in the order of the calls. Never, if it does not say.
   */
  commitsAside?(writes: number): boolean;

  /**
   * Commits a batch: row, log entry and counter together (S3), durable before it
   * resolves (S4). Each write has its own outcome; a rejection concerns the whole
   * batch, of which then nothing was committed or, if Unavailable, perhaps all.
   */
  commit(
    batch: readonly Write[],
  ): Promise<{ readonly head: Revision; readonly outcomes: readonly Outcome[] }>;

  /** The object and the head of the snapshot it was read from. */
  read(
    key: Key,
    signal: AbortSignal,
  ): Promise<{ readonly head: Revision; readonly row: Row | undefined }>;

  /** The newest committed revision, of any process, as of a moment after the call. */
  head(signal: AbortSignal): Promise<Revision>;

  /** The same, where it is known without asking because nobody else can commit. */
  headNow?(): Revision;

  /** Head and floor of one snapshot. */
  bounds(signal: AbortSignal): Promise<Bounds>;

  /** Walks a stretch of a collection. Throws Expired if `at` is below the floor, TooNew if above the head. */
  scan(request: ScanRequest, signal: AbortSignal): Promise<Scanned>;

  /** How many objects the scope held at `at` (undefined: now), without walking over them. Expired below the floor. */
  count(scope: Scope, at: Revision | undefined, signal: AbortSignal): Promise<number>;

  /** The number of objects of each kind, for metrics. */
  countByKind(signal: AbortSignal): Promise<ReadonlyMap<string, number>>;

  /** The log after a revision, as far as the limits go. Throws Expired below the floor. */
  log(after: Revision, limits: LogLimits, signal: AbortSignal): Promise<LogPage>;

  /** What the log still holds of one object, newest first, before the given revision if any. */
  history(
    key: Key,
    page: { readonly before: Revision | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]>;

  /**
   * Cuts entries at or below `upTo` off the log, as far as the limits go, and raises the
   * floor to the last of them, in one transaction. The last cut consumes a revision.
   */
  cut(
    upTo: Revision,
    limits: CutLimits,
    signal: AbortSignal,
  ): Promise<Bounds & { readonly done: boolean }>;

  /** Makes every revision handed out so far expire: after the database was restored to an earlier state. */
  leap(signal: AbortSignal): Promise<Bounds>;

  /** Takes, or keeps, the claim of that name for `ttlMs`; undefined while somebody else holds it. */
  claim(
    name: string,
    request: { readonly holder: string; readonly ttlMs: number },
    signal: AbortSignal,
  ): Promise<Claim | undefined>;

  /** Gives a claim back early. */
  release(name: string, holder: string, signal: AbortSignal): Promise<void>;

  /** Resolves if the database answers and takes writes. */
  ping(signal: AbortSignal): Promise<void>;

  /** How much there is, without counting it: asked for every half minute. */
  size(signal: AbortSignal): Promise<Size>;

  /**
   * Calls `listener` when somebody may have committed, with the revision that was
   * committed if it is known: whoever has published that need not look. A wake-up
   * carries nothing else; losing one costs latency, never correctness (S15).
   */
  onWake(listener: (committed?: Revision) => void): Disposable;
}

/** Called with a statement's name before it runs; a test that throws here makes the statement fail. */
export type OnStatement = (name: string) => void;
