// Whether the database agrees with itself at every look: log, rows, counts, head and floor (S1, S2, S3, S13, S14).

import { type HistoryRecord, keyText } from "../history.ts";
import type { Context } from "./context.ts";
import { isSameBody, isSameEntry, isSameRow, isWithin } from "./truth.ts";

type Look = Extract<HistoryRecord, { type: "observed" }>;

export function checkDatabase(context: Context): void {
  checkLooks(context);
  checkChain(context);
  checkTables(context);
}

/** Each look against what is known of the whole. */
function checkLooks({ history, truth, verdicts }: Context): void {
  const firstSeen = new Map<number, number>();
  let before: Look | undefined;
  for (const look of history.records) {
    if (look.type !== "observed") continue;
    const { at, head, floor } = look;
    const revisions = new Set(look.revisions);
    for (const entry of look.entries) {
      const known = truth.entryAt(entry.revision);
      if (known !== entry && known !== undefined && !isSameEntry(known, entry))
        verdicts.add("S1", at, `revision ${entry.revision} has changed its content in the log`);
    }
    const last = look.revisions.at(-1) ?? 0;
    if (last > head) verdicts.add("S3", at, `the log has ${last}, beyond the head ${head}`);
    if (before !== undefined && head < before.head)
      verdicts.add("S1", at, `the head went back from ${before.head} to ${head}`);
    if (before !== undefined && floor < before.floor)
      verdicts.add("S13", at, `the floor went back from ${before.floor} to ${floor}`);
    const below = look.revisions.find((revision) => revision <= floor);
    if (below !== undefined)
      verdicts.add("S13", at, `the log has ${below}, at or below the floor ${floor}`);
    for (const { revision } of truth.entries) {
      if (revision > head || revision <= floor || revisions.has(revision)) continue;
      if ((firstSeen.get(revision) ?? Infinity) < at) {
        verdicts.add("S13", at, `the log has lost ${revision}, above the floor ${floor}`);
      } else {
        verdicts.add("S2", at, `the head was ${head} while ${revision} was not yet in the log`);
      }
      break;
    }
    for (const revision of look.revisions)
      if (!firstSeen.has(revision)) firstSeen.set(revision, at);
    before = look;
  }
}

/** Each entry was written by somebody and follows from the one before. */
function checkChain(context: Context): void {
  const { truth, verdicts } = context;
  const written = new Map<string, number>();
  const at = context.history.records.at(-1)?.at ?? 0;
  for (const entry of truth.entries) {
    const { revision, type, body } = entry;
    const name = `${type} ${keyText(entry.key)} at ${revision}`;
    if (context.writerOf(entry) === undefined)
      verdicts.add("S3", at, `the log has ${name}, which nobody wrote`);
    const before = truth.entryBefore(entry);
    const stood = before?.type === "DELETED" ? undefined : before;
    if ((type === "ADDED") !== (stood === undefined)) {
      verdicts.add("S3", at, `${name} follows ${before?.type ?? "nothing"}`);
    } else if (
      stood?.revision !== entry.previous?.revision ||
      stood?.body !== entry.previous?.body
    ) {
      verdicts.add("S3", at, `${name} does not carry the object before it`);
    }
    if (type === "MODIFIED" && stood !== undefined && isSameBody(stood.body, body)) {
      verdicts.add("S14", at, `${name} is equal to the object before it`);
      continue;
    }
    if (type === "DELETED") continue;
    const twin = written.get(body);
    if (twin !== undefined)
      verdicts.add("S3", at, `one write is in the log at ${twin} and ${revision}`);
    written.set(body, revision);
  }
}

/** S3: replaying the log gives the rows and the counts; and the bounds stand where the last look saw them, or further on. */
function checkTables({ history, truth, verdicts }: Context): void {
  const { tables } = history;
  const at = history.records.at(-1)?.at ?? 0;
  const last = history.records.findLast((record) => record.type === "observed");
  if (last !== undefined && tables.head !== last.head)
    verdicts.add("S3", at, `the head is ${tables.head} beside the rows, ${last.head} in the log`);
  if (last !== undefined && tables.floor < last.floor)
    verdicts.add("S13", at, `the floor went back from ${last.floor} to ${tables.floor}`);
  const wanted = new Map(truth.rowsAtEnd().map((row) => [keyText(row.key), row]));
  const found = new Map(tables.rows.map((row) => [keyText(row.key), row]));
  for (const name of new Set([...wanted.keys(), ...found.keys()])) {
    const [inLog, inTable] = [wanted.get(name), found.get(name)];
    if (inLog !== undefined && inTable !== undefined && isSameRow(inLog, inTable)) continue;
    verdicts.add(
      "S3",
      at,
      `${name} is at ${inLog?.revision ?? "no revision"} by the log, at ${inTable?.revision ?? "none"} in its row`,
    );
  }
  for (const { scope, objects } of tables.counts) {
    const actual = tables.rows.filter(({ key }) => isWithin(scope, key)).length;
    if (actual !== objects) {
      verdicts.add(
        "S3",
        at,
        `${scope.kind} in "${scope.namespace}" are ${actual}, counted as ${objects}`,
      );
    }
  }
}
