// What a host and its worker processes say to each other: a line of JSON each.

import type { HistoryRecord, LabelFact, ScopeFact } from "../history.ts";

export interface WorkerConfig {
  readonly name: string;
  readonly seed: string;
  /** The store to run: the URL of an `index.ts`. */
  readonly module: string;
  readonly database:
    | { readonly type: "sqlite"; readonly path: string }
    | { readonly type: "postgresql"; readonly url: string };
  /** Clients that call one after the other, all at the same time. */
  readonly clients: number;
  readonly watches: readonly WatchPlan[];
}

/** A watch that outlives its process: another takes it up at `from`. */
export interface WatchPlan {
  readonly id: string;
  readonly scope: ScopeFact;
  readonly selector?: LabelFact;
  readonly from: number | "state";
  readonly pace: "fast" | "slow";
}

/** What a host asks of a worker. */
export type Order =
  /** Cut the log: the host has looked at it. */
  | { readonly order: "cut"; readonly upTo: number }
  /** Call until several calls of each sort in a row have succeeded. */
  | { readonly order: "heal" }
  /** Start no more calls, and say when the last has ended. */
  | { readonly order: "finish" }
  /** Read all watches until they have come to this head. */
  | { readonly order: "settle"; readonly head: number }
  | { readonly order: "leave" };

/** What a worker tells: what it saw, and that it has done what it was asked. */
export type Report =
  | { readonly record: HistoryRecord }
  | { readonly done: Order["order"] | "start" }
  /** It could not start. */
  | { readonly refused: string };
