// What really happened, rebuilt from the log: every other account is compared with it.

import { comparePositions } from "@keelson/store";
import {
  type EntryFact,
  type History,
  type HistoryRecord,
  type KeyFact,
  keyText,
  type LabelFact,
  type RowFact,
  type ScopeFact,
} from "../history.ts";

/** The log of the whole run, entries that were cut meanwhile included. */
export class Truth {
  /** By revision. */
  readonly entries: readonly EntryFact[];
  readonly #byKey: ReadonlyMap<string, readonly EntryFact[]>;
  readonly #byRevision: ReadonlyMap<number, EntryFact>;
  readonly #lost: ReadonlySet<number>;

  constructor({ records }: History) {
    const byRevision = new Map<number, EntryFact>();
    for (const record of records) {
      if (record.type !== "observed") continue;
      for (const entry of record.entries) {
        if (!byRevision.has(entry.revision)) byRevision.set(entry.revision, entry);
      }
    }
    this.#byRevision = byRevision;
    this.entries = [...byRevision.values()].sort((a, b) => a.revision - b.revision);
    this.#byKey = Map.groupBy(this.entries, ({ key }) => keyText(key));
    this.#lost = lostOf(records, byRevision);
  }

  /** Whether an entry that had been seen was gone later, or another, though nobody had cut it off. */
  isLost(revision: number): boolean {
    return this.#lost.has(revision);
  }

  entryAt(revision: number): EntryFact | undefined {
    return this.#byRevision.get(revision);
  }

  /** Every entry of one object, oldest first. */
  entriesOf(key: KeyFact): readonly EntryFact[] {
    return this.#byKey.get(keyText(key)) ?? [];
  }

  /** The entry of the same object before this one. */
  entryBefore(entry: EntryFact): EntryFact | undefined {
    const entries = this.entriesOf(entry.key);
    return entries[entries.indexOf(entry) - 1];
  }

  /** The object as it stood at a revision. */
  rowAt(key: KeyFact, revision: number): RowFact | undefined {
    const entry = this.entriesOf(key).findLast((entry) => entry.revision <= revision);
    return entry === undefined || entry.type === "DELETED" ? undefined : rowOf(entry);
  }

  /** A collection as it stood at a revision, in the order of lists. */
  stateAt(revision: number, scope: ScopeFact, selector: LabelFact | undefined): RowFact[] {
    return [...this.#byKey.values()]
      .map((entries) => entries[0]?.key)
      .filter((key) => key !== undefined && isWithin(scope, key))
      .map((key) => key && this.rowAt(key, revision))
      .filter((row) => row !== undefined)
      .filter((row) => selects(selector, row.body))
      .sort((a, b) => comparePositions(a.key, b.key));
  }

  /** Every object that is there at the end. */
  rowsAtEnd(): RowFact[] {
    return [...this.#byKey.values()]
      .map((entries) => entries.at(-1))
      .filter((entry) => entry !== undefined && entry.type !== "DELETED")
      .map((entry) => rowOf(entry as EntryFact));
  }

  /** The lives of one object's versions, its absences included: each until the next one's revision. */
  spansOf(key: KeyFact): readonly Span[] {
    const entries = this.entriesOf(key);
    const spans: Span[] = [{ from: 0, until: entries[0]?.revision ?? Infinity }];
    for (const [index, entry] of entries.entries()) {
      const until = entries[index + 1]?.revision ?? Infinity;
      const row = entry.type === "DELETED" ? {} : { row: rowOf(entry) };
      spans.push({ from: entry.revision, until, ...row });
    }
    return spans;
  }
}

/** The floor at a look is not asked: it also rises when the store finds that its database has gone back. */
function lostOf(
  records: readonly HistoryRecord[],
  first: ReadonlyMap<number, EntryFact>,
): Set<number> {
  const lost = new Set<number>();
  const seen = new Set<number>();
  let cutUpTo = 0;
  for (const record of records) {
    if (record.type === "call" && record.call.op === "cut") {
      cutUpTo = Math.max(cutUpTo, record.call.upTo);
    }
    if (record.type !== "observed") continue;
    const there = new Set(record.revisions);
    for (const revision of seen) {
      if (revision > cutUpTo && !there.has(revision)) lost.add(revision);
    }
    for (const entry of record.entries) {
      const known = first.get(entry.revision);
      if (known !== undefined && !isSameEntry(known, entry)) lost.add(entry.revision);
    }
    for (const revision of record.revisions) seen.add(revision);
  }
  return lost;
}

/** While an object was as `row` says; without a row it did not exist. */
export interface Span {
  readonly from: number;
  readonly until: number;
  readonly row?: RowFact;
}

export function isSameRow(a: RowFact, b: RowFact): boolean {
  return (
    keyText(a.key) === keyText(b.key) &&
    a.uid === b.uid &&
    a.revision === b.revision &&
    a.body === b.body
  );
}

export function isSameEntry(a: EntryFact, b: EntryFact): boolean {
  return a.type === b.type && isSameRow(a, b);
}

export function isWithin(scope: ScopeFact, key: KeyFact): boolean {
  return key.kind === scope.kind && (scope.namespace === "" || scope.namespace === key.namespace);
}

/** The checker's own reading of a selector: it shares no code with the store. */
export function selects(selector: LabelFact | undefined, body: string): boolean {
  if (selector === undefined) return true;
  const { metadata } = JSON.parse(body) as { metadata?: { labels?: Record<string, unknown> } };
  const labels = metadata?.labels ?? {};
  return Object.hasOwn(labels, selector.label) && labels[selector.label] === selector.value;
}

/** Whether two bodies are the same JSON, in whatever order their members stand. */
export function isSameBody(a: string, b: string): boolean {
  return a === b || canonical(JSON.parse(a)) === canonical(JSON.parse(b));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function rowOf({ key, uid, revision, body }: EntryFact): RowFact {
  return { key, uid, revision, body };
}
