// A stretch of a collection, as it is now and as it was at an earlier revision.

import type { SQLInputValue } from "node:sqlite";
import type { KnownRows, Row, Scanned, ScanRequest } from "../backend.ts";
import { checkedBody, fromColumns, storedBody } from "../columns.ts";
import { comparePositions, type Key, type Position, type Scope, splitKind } from "../key.ts";
import { type LogRow, toEntry } from "../log-row.ts";
import type { Revision } from "../revision.ts";
import { type Connection, keyParameters } from "./connection.ts";
import { built, labelParameters, type Stretch } from "./statements.ts";

/** A live object, as the table has it. */
export interface ObjectRow {
  readonly namespace: string;
  readonly name: string;
  readonly resource_version: number;
  readonly uid: string;
  readonly object: string;
}

/** A row of `selectRows`: name, revision, uid, body, whether that is JSON, and the namespace if the scope is not one. */
type Cells = readonly [string, number, string, string, number, string?];

/** The stretch as it is now. */
export function scanNow(
  reader: Connection,
  request: ScanRequest,
  head: Revision,
): Pick<Scanned, "rows" | "reached"> {
  if (request.labels.length > 0) {
    const reached = nthKey(reader, request);
    return { rows: rowsOf(reader, { ...request, at: head }, { upTo: reached }), reached };
  }
  const { walk } = request;
  const known = knownAt(request, head);
  let rows = known && rowsOfKeys(reader, { keys: keysOf(reader, request), known });
  if (rows === undefined) {
    rows = rowsOf(reader, { ...request, at: head }, { limit: walk });
    known?.learn(rows, head);
  }
  return { rows, reached: rows.length < walk ? undefined : rows.at(-1)?.key };
}

/**
 * The stretch as it was: rows that have not changed since, and for the others what
 * the first change after `at` found there.
 */
export function scanAt(
  reader: Connection,
  request: ScanRequest,
  { at, head }: { readonly at: Revision; readonly head: Revision },
): Pick<Scanned, "rows" | "reached"> {
  const known = request.labels.length === 0 ? knownAt(request, head) : undefined;
  const keys = known && keysOf(reader, request);
  const live =
    keys === undefined
      ? nthKey(reader, request)
      : keys.length < request.walk
        ? undefined
        : keys.at(-1);
  const deleted = deletedKeys(reader, { ...request, at }, live);
  // Neither list may run ahead of the other.
  const reached = deleted.length < request.walk ? live : deleted.at(-1);
  const upToReached =
    reached === live ? keys : keys?.filter((key) => comparePositions(key, reached ?? key) <= 0);
  let rows = known && upToReached && rowsOfKeys(reader, { keys: upToReached, known });
  if (rows === undefined) {
    rows = rowsOf(reader, { ...request, at }, { upTo: reached });
    known?.learn(rows, head);
  }
  const changed = new Map<string, Key>();
  for (const { key, revision } of rows)
    if (revision > at) changed.set(`${key.namespace}\0${key.name}`, key);
  for (const { namespace, name } of deleted) {
    changed.set(`${namespace}\0${name}`, { kind: request.scope.kind, namespace, name });
  }
  if (changed.size === 0) return { rows, reached };
  const past = [...changed.values()]
    .map((key) => before(reader, key, at))
    .filter((row) => row !== undefined);
  const unchanged = rows.filter(({ revision }) => revision <= at);
  return {
    rows: [...unchanged, ...past].sort((a, b) => comparePositions(a.key, b.key)),
    reached,
  };
}

/** What memory has, if it is level: within this turn nothing can be committed, so it is as good as the table then. */
function knownAt({ known }: ScanRequest, head: Revision): KnownRows | undefined {
  return known?.at === head ? known : undefined;
}

function before(reader: Connection, key: Key, at: Revision): Row | undefined {
  const found = reader.one("selectFirstChangeAfter", ...keyParameters(key), at);
  if (found === undefined) return undefined;
  const { uid, previous } = toEntry(found as unknown as LogRow);
  if (previous === undefined) return undefined; // It was created after `at`.
  return { key, uid, revision: previous.revision, body: checkedBody(key, previous.body.text) };
}

function rowsOf(
  reader: Connection,
  request: ScanRequest & { readonly at: Revision },
  { upTo, limit }: { readonly upTo?: Position | undefined; readonly limit?: number },
): Row[] {
  const { scope, labels } = request;
  const stretch = stretchOf(request, upTo);
  const parameters = stretchParameters(request, upTo);
  if (labels.length > 0) {
    parameters.push(request.at, ...labels.flatMap((label) => [...labelParameters(label)]));
  }
  parameters.push(limit ?? -1); // No limit.
  const text = built.selectRows(stretch, labels);
  const found = reader.build("selectRows", text, ...parameters) as unknown as readonly Cells[];
  return found.map((cells) => toRow(scope, cells));
}

/** All keys of a stretch, from the index alone. */
function keysOf(reader: Connection, request: ScanRequest): readonly Key[] {
  const { kind } = request.scope;
  const text = built.selectKeys(stretchOf(request, undefined));
  const parameters = stretchParameters(request, undefined);
  const keys = reader.build("selectKeys", text, ...parameters, request.walk);
  return (keys as [string, string][]).map(([namespace, name]) => ({ kind, namespace, name }));
}

/** Objects from memory, and the few that are not there from the table. Undefined if they are not few: then one walk is cheaper. */
function rowsOfKeys(
  reader: Connection,
  { keys, known }: { readonly keys: readonly Key[]; readonly known: KnownRows },
): Row[] | undefined {
  const found: (Row | undefined)[] = [];
  let unknown = 0;
  for (const key of keys) {
    const row = known.find(key);
    found.push(row);
    if (row === undefined) unknown += 1;
    if (unknown > unknownFirst && unknown > found.length / 4) return undefined;
  }
  return found.map((row, index) => row ?? learnt(reader, need(keys[index]), known));
}

/** How many unknown objects a stretch may begin with. */
const unknownFirst = 8;

function learnt(reader: Connection, key: Key, known: KnownRows): Row {
  const row = need(rowOf(reader, key)); // The index names it, so it is there.
  known.learn([row], known.at);
  return row;
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("an object that the index names is not in its table");
  return value;
}

/** One object, as it is now. */
export function rowOf(reader: Connection, key: Key): Row | undefined {
  const found = reader.one("selectObject", ...keyParameters(key)) as ObjectRow | undefined;
  if (found === undefined) return undefined;
  const { uid, resource_version: revision, object } = found;
  return { key, uid, revision, body: fromColumns(key, object) };
}

function toRow(scope: Scope, [name, revision, uid, object, isJson, namespace]: Cells): Row {
  const key = { kind: scope.kind, namespace: namespace ?? scope.namespace, name };
  // SQLite reads no further than a NUL, and takes any value for JSON.
  const isWhole = isJson === 1 && object.startsWith("{") && !object.includes("\0");
  const body = isWhole ? storedBody(key, object) : checkedBody(key, object);
  return { key, uid, revision, body };
}

function nthKey(reader: Connection, request: ScanRequest): Position | undefined {
  const text = built.selectNthKey(stretchOf(request, undefined));
  const keys = reader.build(
    "selectNthKey",
    text,
    ...stretchParameters(request, undefined),
    request.walk - 1,
  );
  return positionsFrom(keys)[0];
}

function deletedKeys(
  reader: Connection,
  request: ScanRequest & { readonly at: Revision },
  upTo: Position | undefined,
): readonly Position[] {
  const text = built.selectDeletedKeys(stretchOf(request, upTo));
  const keys = reader.build(
    "selectDeletedKeys",
    text,
    ...stretchParameters(request, upTo),
    request.at,
    request.walk,
  );
  return positionsFrom(keys);
}

function positionsFrom(keys: readonly unknown[]): readonly Position[] {
  return (keys as readonly [string, string][]).map(([namespace, name]) => ({ namespace, name }));
}

function stretchOf({ scope, name }: ScanRequest, upTo: Position | undefined): Stretch {
  return {
    isNamespaced: scope.namespace !== "",
    isBounded: upTo !== undefined,
    isNamed: name !== undefined,
  };
}

function stretchParameters(
  { scope, after, name }: ScanRequest,
  upTo: Position | undefined,
): SQLInputValue[] {
  const { kind, group } = splitKind(scope.kind);
  const named = name === undefined ? [] : [name];
  const start = after ?? { namespace: "", name: "" };
  if (scope.namespace === "") {
    const end = upTo === undefined ? [] : [upTo.namespace, upTo.name];
    return [group, kind, start.namespace, start.name, ...end, ...named];
  }
  // The cursor of another namespace stands before or after all of this one's names.
  const first = start.namespace === scope.namespace ? start.name : "";
  return [
    group,
    kind,
    scope.namespace,
    first,
    ...(upTo === undefined ? [] : [upTo.name]),
    ...named,
  ];
}
