// What a run saw: calls and their answers, watches and what they carried, and looks into the database.

/** An object's name in a history. */
export interface KeyFact {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** All objects of a kind; of one namespace unless it is empty. */
export interface ScopeFact {
  readonly kind: string;
  readonly namespace: string;
}

/** The only selector histories know: a label that has a value. Small, so that the checker can judge by itself. */
export interface LabelFact {
  readonly label: string;
  readonly value: string;
}

/** An object as somebody saw it. */
export interface RowFact {
  readonly key: KeyFact;
  readonly uid: string;
  readonly revision: number;
  readonly body: string;
}

/** An entry of the log as it stands in the database. */
export interface EntryFact extends RowFact {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly previous?: { readonly revision: number; readonly body: string };
}

/** What a watch handed out. */
export type ItemFact =
  | (RowFact & { readonly type: "ADDED" | "MODIFIED" | "DELETED" })
  | {
      readonly type: "BOOKMARK";
      readonly revision: number;
      readonly initialEventsEnd: boolean;
    };

export interface ExpectFact {
  readonly revision?: number;
  readonly uid?: string;
}

/** What somebody asked the store for. */
export type Call =
  | { readonly op: "create"; readonly key: KeyFact; readonly body: string }
  | {
      readonly op: "update";
      readonly key: KeyFact;
      readonly body: string;
      readonly expect: ExpectFact & { readonly revision: number };
    }
  | {
      readonly op: "delete";
      readonly key: KeyFact;
      readonly expect: ExpectFact;
      readonly final?: string;
    }
  | { readonly op: "get"; readonly key: KeyFact }
  | {
      readonly op: "list";
      readonly scope: ScopeFact;
      readonly selector?: LabelFact;
      readonly limit?: number;
      /** The call of the page before, whose list this one goes on with. */
      readonly after?: string;
      /** The state at exactly this revision. */
      readonly exact?: number;
    }
  /** Cuts the log; whoever records it has looked into the database up to `upTo` before. */
  | { readonly op: "cut"; readonly upTo: number };

export type WriteCall = Extract<Call, { op: "create" | "update" | "delete" }>;

/** What came of a call. A call without an answer may have had any effect, or none. */
export type Answer =
  | { readonly type: "row"; readonly row: RowFact }
  | {
      readonly type: "page";
      readonly revision: number;
      readonly items: readonly RowFact[];
      readonly hasMore: boolean;
      readonly remaining?: number;
    }
  | { readonly type: "cut"; readonly head: number; readonly floor: number }
  | ({ readonly type: "error" } & ErrorFact);

export interface ErrorFact {
  /** The store's code; `Aborted` if the caller gave up; else the error's name. */
  readonly code: string;
  readonly message: string;
  /** Of Conflict: what was there instead; over HTTP nobody is told. */
  readonly actual?: { readonly revision: number; readonly uid: string } | "untold";
}

/** Something that happened in a run. */
export type Happening =
  | { readonly type: "call"; readonly id: string; readonly replica: string; readonly call: Call }
  | { readonly type: "answer"; readonly id: string; readonly answer: Answer }
  | {
      readonly type: "watch";
      readonly watch: string;
      readonly replica: string;
      readonly scope: ScopeFact;
      readonly selector?: LabelFact;
      /** A watch from the state has its end marked: how else would one know what belongs to it? */
      readonly from: number | "state";
      readonly hasBookmarks: boolean;
      readonly initialEventsEnd: boolean;
      /** A slow one is left unread for long. */
      readonly pace: "fast" | "slow";
    }
  /** The store has taken the watch on. */
  | { readonly type: "watching"; readonly watch: string }
  | { readonly type: "items"; readonly watch: string; readonly items: readonly ItemFact[] }
  /** `error` is absent if the stream ended by itself or was let go. */
  | {
      readonly type: "ended";
      readonly watch: string;
      readonly position?: number;
      readonly error?: ErrorFact;
    }
  /** The watch was read until nothing came any more, long enough after `head` was committed. */
  | { readonly type: "quiet"; readonly watch: string; readonly head: number }
  /** Calls that overlap trouble on their replica (`*`: on all) may fail; `struck` is over at once. */
  | {
      readonly type: "trouble";
      readonly replica: string;
      readonly state: "begins" | "ends" | "struck";
      readonly what: string;
    }
  /** From here on, a wake-up to this replica (`*`: to all) was lost. */
  | { readonly type: "deaf"; readonly replica: string }
  /** A server took a database file that only one may have; and let it go, or was killed. */
  | { readonly type: "serving"; readonly server: string; readonly file: string }
  | { readonly type: "gone"; readonly server: string }
  /** A replica has not come to what was asked of it in any time one could wait. */
  | { readonly type: "stuck"; readonly replica: string; readonly before: string }
  /** A look into the database: every revision in the log, the entries not seen before. */
  | {
      readonly type: "observed";
      readonly head: number;
      readonly floor: number;
      readonly revisions: readonly number[];
      readonly entries: readonly EntryFact[];
    };

/** One line of a history. `at` orders them: what had ended before another thing began has the smaller one. */
export type HistoryRecord = Happening & { readonly at: number };

/** The tables at the end, when nobody writes any more. */
export interface Tables {
  readonly rows: readonly RowFact[];
  readonly counts: readonly { readonly scope: ScopeFact; readonly objects: number }[];
  readonly head: number;
  readonly floor: number;
}

export interface History {
  /** In the order of `at`. */
  readonly records: readonly HistoryRecord[];
  readonly tables: Tables;
}

/** Takes records down. */
export interface Recorder {
  record(happening: Happening): void;
}

/** Records in memory, ordered by arrival. */
export class HistoryRecorder implements Recorder {
  readonly records: HistoryRecord[] = [];

  record(happening: Happening): void {
    this.records.push({ ...happening, at: this.records.length + 1 });
  }
}

export function keyText({ kind, namespace, name }: KeyFact): string {
  return `${kind} ${namespace}/${name}`;
}
