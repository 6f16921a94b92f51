// What watches carried: everything after their start, once, in order, in the right shape, and honest marks (S8 to S13, S15).

import type { EntryFact, HistoryRecord, ItemFact, RowFact } from "../history.ts";
import { keyText } from "../history.ts";
import type { Context } from "./context.ts";
import { isSameRow } from "./truth.ts";
import { isWithin, selects } from "./truth.ts";
import type { Invariant } from "./verdict.ts";

type Opened = Extract<HistoryRecord, { type: "watch" }>;
type ChangeFact = Exclude<ItemFact, { type: "BOOKMARK" }>;
type MarkFact = Extract<ItemFact, { type: "BOOKMARK" }>;

export function checkWatches(context: Context): void {
  const opened = new Map<string, WatchCheck>();
  for (const record of context.history.records) {
    if (record.type === "watch") opened.set(record.watch, new WatchCheck(context, record));
    else if ("watch" in record) opened.get(record.watch)?.take(record);
  }
}

/** What a watcher of this scope and selector must be told of an entry; undefined: nothing (S11). */
function seenAs(
  entry: EntryFact,
  { scope, selector }: Pick<Opened, "scope" | "selector">,
): ChangeFact | undefined {
  if (!isWithin(scope, entry.key)) return undefined;
  const { type, revision, key, uid, body, previous } = entry;
  const before = previous !== undefined && selects(selector, previous.body);
  if (type === "DELETED") return before ? { type, revision, key, uid, body } : undefined;
  const after = selects(selector, body);
  if (after) return { type: before ? "MODIFIED" : "ADDED", revision, key, uid, body };
  return before ? { type: "DELETED", revision, key, uid, body: previous.body } : undefined;
}

/** Follows one watch; after its first broken promise it says no more. */
class WatchCheck {
  readonly #context: Context;
  readonly #opened: Opened;
  #hasBegun = false;
  /** Where the stream of changes begins; undefined before the state it begins with is complete. */
  #start: number | undefined;
  readonly #initial: ChangeFact[] = [];
  /** What it must carry after its start, and how much of that has come. */
  #expected: readonly ChangeFact[] = [];
  #count = 0;
  #last = 0;
  #mark = 0;
  #isOver = false;

  constructor(context: Context, opened: Opened) {
    this.#context = context;
    this.#opened = opened;
  }

  take(record: HistoryRecord): void {
    if (this.#isOver) return;
    if (record.type === "watching") this.#begin(record.at);
    if (record.type === "items") {
      for (const item of record.items) {
        if (this.#isOver) return;
        if (item.type === "BOOKMARK") this.#takeMark(item, record.at);
        else this.#takeChange(item, record.at);
      }
    }
    if (record.type === "ended") this.#end(record);
    if (record.type === "quiet") this.#rest(record.head, record.at);
  }

  #begin(at: number): void {
    const { timeline } = this.#context;
    const { from, at: openedAt } = this.#opened;
    this.#hasBegun = true;
    if (from === "state") return; // Its revision shows at the end of the state.
    if (from < timeline.floorBefore(openedAt))
      this.#complain(
        "S13",
        at,
        `began at ${from}, below the floor ${timeline.floorBefore(openedAt)}`,
      );
    this.#startAt(from);
  }

  #startAt(revision: number): void {
    this.#start = revision;
    this.#last = revision;
    this.#expected = this.#context.truth.entries
      .filter((entry) => entry.revision > revision)
      .map((entry) => seenAs(entry, this.#opened))
      .filter((change) => change !== undefined);
  }

  #takeChange(change: ChangeFact, at: number): void {
    if (this.#start === undefined) {
      this.#initial.push(change);
      return;
    }
    const wanted = this.#expected[this.#count];
    if (wanted !== undefined && isSameChange(wanted, change)) {
      this.#count += 1;
      this.#last = change.revision;
      return;
    }
    const name = describe(change);
    if (change.revision <= this.#last) {
      this.#complain("S9", at, `carried ${name} after ${this.#last}`);
    } else if (wanted === undefined || wanted.revision > change.revision) {
      this.#complainOfStranger(change, at);
    } else if (wanted.revision < change.revision) {
      this.#complain(
        this.#lossOf(wanted, at),
        at,
        `lost ${describe(wanted)}: ${name} came after ${this.#last}`,
      );
    } else {
      const invariant = this.#opened.selector === undefined ? "S9" : "S11";
      this.#complain(invariant, at, `carried ${name} for ${describe(wanted)}`);
    }
  }

  /** The state was one snapshot, whole, in order, not older than what was known before. */
  #endInitial(revision: number, at: number): void {
    const { truth, timeline } = this.#context;
    const { scope, selector, at: openedAt } = this.#opened;
    const known = timeline.knownBefore(openedAt);
    if (revision < known)
      this.#complain("S7", at, `began with the state at ${revision}, ${known} was known before`);
    const state = truth.stateAt(revision, scope, selector);
    const isRight =
      state.length === this.#initial.length &&
      state.every((row, index) => isSameInitial(row, this.#initial[index]));
    if (!isRight) {
      const carried = this.#initial.map(describe).join(", ");
      const wanted = state.map(({ key, revision }) => `${keyText(key)}@${revision}`).join(", ");
      this.#complain("S8", at, `began with [${carried}]; at ${revision} the state is [${wanted}]`);
    }
    this.#startAt(revision);
  }

  #takeMark(mark: MarkFact, at: number): void {
    const { hasBookmarks, initialEventsEnd } = this.#opened;
    const { revision } = mark;
    const isWanted = mark.initialEventsEnd
      ? initialEventsEnd && this.#start === undefined
      : hasBookmarks && this.#start !== undefined;
    if (!isWanted) {
      this.#complain("S12", at, `was given a mark at ${revision} that has no place there`);
      return;
    }
    if (mark.initialEventsEnd) this.#endInitial(revision, at);
    const missing = this.#expected[this.#count];
    if (missing !== undefined && missing.revision <= revision)
      this.#complain("S12", at, `was marked at ${revision} before ${describe(missing)} came`);
    if (revision < this.#last || revision < this.#mark)
      this.#complain(
        "S12",
        at,
        `was marked at ${revision} after ${Math.max(this.#last, this.#mark)}`,
      );
    this.#mark = revision;
  }

  #end({ position = 0, error, at }: Extract<HistoryRecord, { type: "ended" }>): void {
    const { timeline } = this.#context;
    const { replica, from, at: openedAt } = this.#opened;
    if (this.#hasBegun && this.#start === undefined && position > 0)
      this.#complain("S9", at, `would resume after ${position}, but its state has not come whole`);
    const missing = this.#expected[this.#count];
    if (this.#start !== undefined && missing !== undefined && missing.revision <= position)
      this.#complain(
        "S9",
        at,
        `would resume after ${position}, but ${describe(missing)} never came`,
      );
    if (error === undefined || error.code === "Aborted") return;
    if (error.code === "Expired") {
      // A state may expire while it is read; which one it was, nobody has been told.
      const stood = Math.max(position, from === "state" ? 0 : from);
      if (stood >= timeline.floorAtMost(at))
        this.#complain("S10", at, `expired at ${stood}, which no cut has overtaken`);
      return;
    }
    const isOwnedUp = ["Unavailable", "Full", "StoreClosed"].includes(error.code);
    if (isOwnedUp && timeline.isTroubled(replica, openedAt, at)) return;
    this.#complain("S17", at, `failed with ${error.code} (${error.message})`);
  }

  #rest(head: number, at: number): void {
    if (this.#start === undefined) {
      this.#complain("S12", at, "never marked the end of its state");
      return;
    }
    const missing = this.#expected[this.#count];
    if (missing === undefined || missing.revision > head) return;
    // A watcher that is merely silent may not have been woken.
    const isDeaf = this.#context.timeline.isDeaf(this.#opened.replica, at);
    this.#complain(
      isDeaf ? ["S15"] : this.#lossOf(missing, at),
      at,
      `never carried ${describe(missing)}, though ${head} was committed long ago`,
    );
  }

  #complainOfStranger(change: ChangeFact, at: number): void {
    const entry = this.#context.truth.entryAt(change.revision);
    if (entry === undefined || keyText(entry.key) !== keyText(change.key)) {
      this.#complain("S9", at, `carried ${describe(change)}, which the log does not hold`);
    } else {
      this.#complain("S11", at, `carried ${describe(change)}, which does not concern it`);
    }
  }

  /** Which promises a lost change breaks: the narrowest that explain it. */
  #lossOf(change: ChangeFact, at: number): readonly Invariant[] {
    const { timeline, truth } = this.#context;
    const entry = truth.entryAt(change.revision);
    if (this.#opened.selector !== undefined && entry?.type !== change.type) return ["S11"];
    if (change.revision <= timeline.floorBefore(at)) return ["S13"];
    return this.#opened.pace === "slow" ? ["S9", "S10"] : ["S9"];
  }

  #complain(broken: Invariant | readonly Invariant[], at: number, what: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { watch, from, scope, selector, replica } = this.#opened;
    const filter = selector === undefined ? "" : ` ${selector.label}=${selector.value}`;
    const name = `watch ${watch} on ${replica} (${scope.kind} ${scope.namespace}${filter}, from ${from})`;
    for (const invariant of typeof broken === "string" ? [broken] : broken)
      this.#context.verdicts.add(invariant, at, `${name} ${what}`);
  }
}

function isSameInitial(row: RowFact, change: ChangeFact | undefined): boolean {
  return change !== undefined && change.type === "ADDED" && isSameRow(row, change);
}

function isSameChange(a: ChangeFact, b: ChangeFact): boolean {
  return a.type === b.type && isSameRow(a, b);
}

function describe({ type, key, revision }: ChangeFact): string {
  return `${type} ${keyText(key)}@${revision}`;
}
