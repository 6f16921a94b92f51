// What every check is given.

import type { EntryFact, History, KeyFact, WriteCall } from "../history.ts";
import { type CallFact, Timeline } from "./timeline.ts";
import { type Span, Truth } from "./truth.ts";
import { Verdicts } from "./verdict.ts";

export type WriteFact = CallFact & { readonly call: WriteCall };

/** A history, indexed, and the verdicts on it so far. */
export class Context {
  readonly history: History;
  readonly truth: Truth;
  readonly timeline: Timeline;
  readonly verdicts = new Verdicts();
  readonly writes: readonly WriteFact[];
  readonly #byBody = new Map<string, WriteFact>();
  readonly #deletes: ReadonlyMap<string, readonly WriteFact[]>;
  readonly #writers = new Map<EntryFact, WriteFact | undefined>();

  constructor(history: History) {
    this.history = history;
    this.truth = new Truth(history);
    this.timeline = new Timeline(history.records);
    this.writes = this.timeline.calls.filter(isWrite);
    for (const write of this.writes) {
      const body = bodyOf(write.call);
      // Bodies are unique, but for updates that repeat one on purpose and so come later.
      if (body !== undefined && !this.#byBody.has(body)) this.#byBody.set(body, write);
    }
    const deletes = this.writes.filter(({ call }) => call.op === "delete");
    this.#deletes = Map.groupBy(deletes, ({ call }) => JSON.stringify(call.key));
  }

  /** Who wrote an entry; of several deletes that may have, the one that says so, else the earliest that meant this object. */
  writerOf(entry: EntryFact): WriteFact | undefined {
    if (!this.#writers.has(entry)) this.#writers.set(entry, this.#findWriter(entry));
    return this.#writers.get(entry);
  }

  #findWriter(entry: EntryFact): WriteFact | undefined {
    if (entry.type !== "DELETED") return this.#byBody.get(entry.body);
    const deletes = this.#deletes.get(JSON.stringify(entry.key)) ?? [];
    const owner = deletes.find(
      ({ answer }) => answer?.type === "row" && answer.row.revision === entry.revision,
    );
    const suspects = deletes.filter((write) => isUncertain(write) && mayHaveDeleted(write, entry));
    // Only if nobody who may do it has done it is one who may not to blame.
    return owner ?? suspects.find((write) => meansObjectOf(write, entry)) ?? suspects[0];
  }

  /** Whether the object can have been so at some moment of the call. */
  canHaveBeen(
    key: KeyFact,
    { calledAt, answeredAt }: Pick<CallFact, "calledAt" | "answeredAt">,
    isSo: (span: Span) => boolean,
  ): boolean {
    const known = this.timeline.knownBefore(calledAt);
    return this.truth.spansOf(key).some((span) => {
      if (span.until <= known || !isSo(span)) return false;
      const entry = this.truth.entryAt(span.from);
      const writer = entry && this.writerOf(entry);
      return writer === undefined || writer.calledAt < answeredAt;
    });
  }
}

/** Whether nobody knows what came of a write. */
export function isUncertain({ answer }: CallFact): boolean {
  return answer === undefined || (answer.type === "error" && answer.code === "Unavailable");
}

export function describe({ id, call }: CallFact): string {
  const subject = "key" in call ? `${call.key.namespace}/${call.key.name}` : "";
  return `${id} (${call.op} ${subject})`;
}

function isWrite(fact: CallFact): fact is WriteFact {
  return fact.call.op === "create" || fact.call.op === "update" || fact.call.op === "delete";
}

export function bodyOf(call: WriteCall): string | undefined {
  return call.op === "delete" ? call.final : call.body;
}

function mayHaveDeleted({ call }: WriteFact, entry: EntryFact): boolean {
  if (call.op !== "delete") return false;
  if (call.final !== undefined && call.final !== entry.body) return false;
  return call.expect.revision === undefined || call.expect.revision === entry.previous?.revision;
}

function meansObjectOf({ call }: WriteFact, entry: EntryFact): boolean {
  if (call.op !== "delete") return false;
  return call.expect.uid === undefined || call.expect.uid === entry.uid;
}
