// What became of writes: acknowledged ones are there, refused ones are not, and each did what it was asked (S1, S2, S4, S5, S6, S14).

import { type ErrorFact, keyText, type RowFact } from "../history.ts";
import { bodyOf, type Context, describe, isUncertain, type WriteFact } from "./context.ts";
import { isSameBody, type Span } from "./truth.ts";

export function checkWrites(context: Context): void {
  checkUniqueRevisions(context);
  for (const write of context.writes) {
    const { answer } = write;
    if (isUncertain(write)) checkUncertain(context, write);
    if (answer?.type === "row") checkWritten(context, write, answer.row);
    if (answer?.type === "error") checkRefused(context, write, answer);
  }
}

/** S1: two writes never share a revision, equal updates aside, which have none of their own. */
function checkUniqueRevisions(context: Context): void {
  const owners = new Map<number, WriteFact>();
  for (const write of context.writes) {
    if (write.answer?.type !== "row" || isEqualUpdate(context, write)) continue;
    const { revision } = write.answer.row;
    const owner = owners.get(revision);
    if (owner !== undefined) {
      context.verdicts.add(
        "S1",
        write.answeredAt,
        `revision ${revision} was given to ${describe(owner)} and again to ${describe(write)}`,
      );
    }
    owners.set(revision, write);
  }
}

function checkWritten(context: Context, write: WriteFact, row: RowFact): void {
  const { truth, verdicts } = context;
  if (isEqualUpdate(context, write)) {
    checkSilent(context, write, row);
    return;
  }
  const { call } = write;
  const entry = truth.entryAt(row.revision);
  const type = ({ create: "ADDED", update: "MODIFIED", delete: "DELETED" } as const)[call.op];
  const body = bodyOf(call);
  const isThere =
    entry !== undefined &&
    entry.type === type &&
    keyText(entry.key) === keyText(call.key) &&
    (body === undefined || entry.body === body);
  if (!isThere) {
    const found = entry === undefined ? "nothing" : `${entry.type} ${keyText(entry.key)}`;
    verdicts.add(
      "S4",
      write.answeredAt,
      `${describe(write)} was acknowledged at revision ${row.revision}, where the log has ${found}`,
    );
    return;
  }
  if (truth.isLost(row.revision)) {
    const what = `was acknowledged at revision ${row.revision}, which the log had and has lost`;
    verdicts.add("S4", write.answeredAt, `${describe(write)} ${what}`);
  }
  if (row.uid !== entry.uid || row.body !== entry.body) {
    verdicts.add("S4", write.answeredAt, `${describe(write)} was answered with another object`);
  }
  checkOrder(context, write, row.revision);
  checkExpectation(context, write, row.revision);
}

/** A write that began after a revision was known comes after it. */
function checkOrder({ timeline, verdicts }: Context, write: WriteFact, revision: number): void {
  const known = timeline.knownBefore(write.calledAt);
  if (revision > known) return;
  const publishedAt = timeline.publishedAt(revision) ?? Infinity;
  if (publishedAt < write.calledAt) {
    verdicts.add(
      "S1",
      write.answeredAt,
      `${describe(write)} was given revision ${revision}, which had been handed out before it began`,
    );
    return;
  }
  verdicts.add(
    "S2",
    write.answeredAt,
    `${describe(write)} was given revision ${revision} although ${known} was visible before it began`,
  );
}

/** S5: what it replaced is what it expected. */
function checkExpectation({ truth, verdicts }: Context, write: WriteFact, revision: number): void {
  const { call } = write;
  const entry = truth.entryAt(revision);
  if (entry === undefined) return;
  const before = truth.entryBefore(entry);
  const stood = before === undefined || before.type === "DELETED" ? undefined : before;
  if (call.op === "create") {
    if (stood !== undefined)
      verdicts.add(
        "S5",
        write.answeredAt,
        `${describe(write)} replaced revision ${stood.revision}`,
      );
    return;
  }
  const { expect } = call;
  const isMet =
    stood !== undefined &&
    (expect.revision === undefined || expect.revision === stood.revision) &&
    (expect.uid === undefined || expect.uid === stood.uid);
  if (isMet) return;
  verdicts.add(
    "S5",
    write.answeredAt,
    `${describe(write)} expected ${JSON.stringify(expect)} and replaced revision ${stood?.revision ?? "none"}`,
  );
}

/** S14: an equal update answers the stored revision and writes nothing. */
function checkSilent(context: Context, write: WriteFact, row: RowFact): void {
  const { call } = write;
  if (call.op !== "update") return;
  if (row.revision !== call.expect.revision) {
    context.verdicts.add(
      "S14",
      write.answeredAt,
      `${describe(write)} repeated revision ${call.expect.revision} and was given ${row.revision}`,
    );
    return;
  }
  const isCurrent = (span: Span): boolean => span.row?.revision === row.revision;
  if (!context.canHaveBeen(call.key, write, isCurrent)) {
    context.verdicts.add(
      "S5",
      write.answeredAt,
      `${describe(write)} was taken for equal to revision ${row.revision}, which had been replaced`,
    );
  }
}

/** S6: a refusal has its reason in the object itself, or in trouble, and leaves nothing behind. */
function checkRefused(context: Context, write: WriteFact, error: ErrorFact): void {
  const { truth, verdicts, timeline } = context;
  const body = bodyOf(write.call);
  if (!isUncertain(write) && body !== undefined && !isEqualUpdate(context, write)) {
    const left = truth.entries.find(
      (entry) => entry.body === body && context.writerOf(entry) === write,
    );
    if (left !== undefined) {
      verdicts.add(
        "S6",
        write.answeredAt,
        `${describe(write)} failed with ${error.code} but is in the log at ${left.revision}`,
      );
    }
  }
  if (isJustified(context, write, error)) return;
  const { replica, calledAt, answeredAt } = write;
  const isTroubled = timeline.isTroubled(replica, calledAt, answeredAt);
  const isUnhealed = error.code === "Unavailable" && timeline.wasTroubled(replica, calledAt);
  verdicts.add(
    isTroubled || isUnhealed ? "S17" : "S6",
    answeredAt,
    `${describe(write)} failed with ${error.code} (${error.message}) without a reason of its own`,
  );
}

function isJustified(context: Context, write: WriteFact, error: ErrorFact): boolean {
  const { call, replica, calledAt, answeredAt } = write;
  switch (error.code) {
    case "NotFound":
      return call.op !== "create" && context.canHaveBeen(call.key, write, ({ row }) => !row);
    case "AlreadyExists":
      return call.op === "create" && context.canHaveBeen(call.key, write, ({ row }) => !!row);
    case "Conflict":
      return call.op !== "create" && isConflict(context, write, error, call.expect);
    case "Aborted":
      return true;
    case "Unavailable":
    case "Full":
      return context.timeline.isTroubled(replica, calledAt, answeredAt);
    default:
      return false;
  }
}

function isConflict(
  context: Context,
  write: WriteFact,
  { actual }: ErrorFact,
  expect: { readonly revision?: number; readonly uid?: string },
): boolean {
  if (actual === undefined) return false;
  const differs = (from: { readonly revision: number; readonly uid: string }): boolean =>
    (expect.revision !== undefined && expect.revision !== from.revision) ||
    (expect.uid !== undefined && expect.uid !== from.uid);
  if (actual === "untold") {
    return context.canHaveBeen(write.call.key, write, ({ row }) => !!row && differs(row));
  }
  return (
    differs(actual) &&
    context.canHaveBeen(
      write.call.key,
      write,
      ({ row }) => row?.revision === actual.revision && row.uid === actual.uid,
    )
  );
}

/** A write of which nobody knows is absent, or complete: then it met its expectation. */
function checkUncertain(context: Context, write: WriteFact): void {
  for (const entry of context.truth.entries) {
    if (context.writerOf(entry) === write && !isEqualUpdate(context, write))
      checkExpectation(context, write, entry.revision);
  }
}

/** Whether an update asks for what its expected revision already is. */
function isEqualUpdate({ truth }: Context, { call }: WriteFact): boolean {
  if (call.op !== "update") return false;
  const expected = truth.entryAt(call.expect.revision);
  return (
    expected !== undefined &&
    keyText(expected.key) === keyText(call.key) &&
    isSameBody(expected.body, call.body)
  );
}
