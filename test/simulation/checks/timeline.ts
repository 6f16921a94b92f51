// What could be known, and what could have gone wrong, at each moment of a run.

import type { Answer, Call, HistoryRecord } from "../history.ts";

/** A call with its answer, if it came. */
export interface CallFact {
  readonly id: string;
  readonly replica: string;
  readonly call: Call;
  readonly calledAt: number;
  readonly answer: Answer | undefined;
  /** Infinity for a call without an answer. */
  readonly answeredAt: number;
}

/** A value that held from a moment on. */
interface Step {
  readonly at: number;
  readonly value: number;
}

/** Indexes a history by time. */
export class Timeline {
  readonly calls: readonly CallFact[];
  readonly #known: readonly Step[];
  readonly #published: ReadonlyMap<number, number>;
  readonly #floors: readonly Step[];
  readonly #cuts: readonly Step[];
  readonly #troubles: readonly { replica: string; from: number; until: number }[];
  readonly #deaf: readonly { replica: string; at: number }[];

  constructor(records: readonly HistoryRecord[]) {
    this.calls = callsOf(records);
    const known = revisionsKnown(records);
    this.#known = rising(known);
    const published = new Map<number, number>();
    for (const { at, value } of known) if (!published.has(value)) published.set(value, at);
    this.#published = published;
    this.#floors = rising(floorsKnown(records));
    this.#cuts = rising(cutsAsked(records));
    this.#troubles = troublesOf(records);
    this.#deaf = records.filter((record) => record.type === "deaf");
  }

  /** The greatest revision that somebody knew to be committed before `at`. */
  knownBefore(at: number): number {
    return valueBefore(this.#known, at);
  }

  /** When a revision was first heard of, as a head, a mark or a change. */
  publishedAt(revision: number): number | undefined {
    return this.#published.get(revision);
  }

  /** The floor was at least here before `at`. */
  floorBefore(at: number): number {
    return valueBefore(this.#floors, at);
  }

  /** The floor was at most here at `at`: nobody had asked for more. A store begins with the floor at 1. */
  floorAtMost(at: number): number {
    return Math.max(1, valueBefore(this.#cuts, at), this.floorBefore(at));
  }

  /** Whether calls on `replica` between the two moments had a reason to fail. */
  isTroubled(replica: string, from: number, until: number): boolean {
    return this.#troubles.some(
      (trouble) =>
        (trouble.replica === replica || trouble.replica === "*") &&
        trouble.from <= until &&
        trouble.until >= from,
    );
  }

  /** Whether the replica had any trouble before `at`. */
  wasTroubled(replica: string, at: number): boolean {
    return this.isTroubled(replica, 0, at);
  }

  /** Whether a wake-up to the replica was lost before `at`. */
  isDeaf(replica: string, at: number): boolean {
    return this.#deaf.some(
      (deaf) => deaf.at <= at && (deaf.replica === replica || deaf.replica === "*"),
    );
  }
}

function callsOf(records: readonly HistoryRecord[]): CallFact[] {
  const answers = new Map(
    records
      .filter((record) => record.type === "answer")
      .map((record) => [record.id, record] as const),
  );
  return records
    .filter((record) => record.type === "call")
    .map(({ id, replica, call, at }) => {
      const answer = answers.get(id);
      return {
        id,
        replica,
        call,
        calledAt: at,
        answer: answer?.answer,
        answeredAt: answer?.at ?? Infinity,
      };
    });
}

function revisionsKnown(records: readonly HistoryRecord[]): Step[] {
  const starts = new Map<string, number>();
  for (const record of records) {
    if (record.type === "watch" && record.from !== "state") starts.set(record.watch, record.from);
  }
  return records.flatMap((record): Step[] => {
    const { at } = record;
    switch (record.type) {
      case "answer":
        return revisionsIn(record.answer).map((value) => ({ at, value }));
      case "items":
        // A mark at the revision that the watcher itself named tells nothing: it may be still to come.
        return record.items
          .filter(({ revision }) => revision > (starts.get(record.watch) ?? 0))
          .map(({ revision: value }) => ({ at, value }));
      case "observed":
        return [{ at, value: record.head }];
      default:
        return [];
    }
  });
}

function revisionsIn(answer: Answer): number[] {
  switch (answer.type) {
    case "row":
      return [answer.row.revision];
    case "page":
      return [answer.revision];
    case "cut":
      return [answer.head];
    case "error":
      return [];
  }
}

function floorsKnown(records: readonly HistoryRecord[]): Step[] {
  return records.flatMap((record): Step[] => {
    const { at } = record;
    if (record.type === "observed") return [{ at, value: record.floor }];
    if (record.type === "answer" && record.answer.type === "cut")
      return [{ at, value: record.answer.floor }];
    return [];
  });
}

function cutsAsked(records: readonly HistoryRecord[]): Step[] {
  return records.flatMap((record): Step[] => {
    const isCut = record.type === "call" && record.call.op === "cut";
    return isCut ? [{ at: record.at, value: (record.call as { upTo: number }).upTo }] : [];
  });
}

function troublesOf(
  records: readonly HistoryRecord[],
): { replica: string; from: number; until: number }[] {
  const troubles: { replica: string; from: number; until: number }[] = [];
  for (const record of records) {
    if (record.type !== "trouble") continue;
    const { at, replica, state } = record;
    if (state === "struck") troubles.push({ replica, from: at, until: at });
    if (state === "begins") troubles.push({ replica, from: at, until: Infinity });
    if (state === "ends") {
      const open = troubles.find((other) => other.replica === replica && other.until === Infinity);
      if (open !== undefined) open.until = at;
    }
  }
  return troubles;
}

/** The running maximum. */
function rising(steps: readonly Step[]): Step[] {
  const result: Step[] = [];
  for (const { at, value } of steps) {
    if (value > (result.at(-1)?.value ?? 0)) result.push({ at, value });
  }
  return result;
}

function valueBefore(steps: readonly Step[], at: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((steps[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return steps[low - 1]?.value ?? 0;
}
