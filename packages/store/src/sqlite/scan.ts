// A stretch of a collection, as it is now and as it was at an earlier revision.

import type { SQLInputValue } from "node:sqlite";
import type { Row, Scanned, ScanRequest } from "../backend.ts";
import { checkedBody } from "../columns.ts";
import { comparePositions, type Key, type Position, splitKind } from "../key.ts";
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

/** The stretch as it is now. */
export function scanNow(
  reader: Connection,
  request: ScanRequest,
  head: Revision,
): Pick<Scanned, "rows" | "reached"> {
  if (request.labels.length === 0) {
    const rows = rowsOf(reader, { ...request, at: head }, { limit: request.walk });
    return { rows, reached: rows.length < request.walk ? undefined : rows.at(-1)?.key };
  }
  const reached = nthKey(reader, request);
  return { rows: rowsOf(reader, { ...request, at: head }, { upTo: reached }), reached };
}

/**
 * The stretch as it was: rows that have not changed since, and for the others what
 * the first change after `at` found there.
 */
export function scanAt(
  reader: Connection,
  request: ScanRequest,
  at: Revision,
): Pick<Scanned, "rows" | "reached"> {
  const live = nthKey(reader, request);
  const deleted = deletedKeys(reader, { ...request, at }, live);
  // Neither list may run ahead of the other.
  const reached = deleted.length < request.walk ? live : deleted.at(-1);
  const rows = rowsOf(reader, { ...request, at }, { upTo: reached });
  const changed = new Map<string, Key>();
  for (const { key, revision } of rows)
    if (revision > at) changed.set(`${key.namespace}\0${key.name}`, key);
  for (const { namespace, name } of deleted) {
    changed.set(`${namespace}\0${name}`, { kind: request.scope.kind, namespace, name });
  }
  const past = [...changed.values()]
    .map((key) => before(reader, key, at))
    .filter((row) => row !== undefined);
  const unchanged = rows.filter(({ revision }) => revision <= at);
  return {
    rows: [...unchanged, ...past].sort((a, b) => comparePositions(a.key, b.key)),
    reached,
  };
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
  const stretch = stretchOf(request, upTo);
  const labels = request.labels.flatMap((requirement) => [...labelParameters(requirement)]);
  const since = request.labels.length === 0 ? [] : [request.at];
  const rows = reader.build(
    "selectRows",
    built.selectRows(stretch, request.labels),
    ...stretchParameters(request, upTo),
    ...since,
    ...labels,
    limit ?? -1, // No limit.
  ) as unknown as readonly ObjectRow[];
  return rows.map(({ namespace, name, uid, resource_version: revision, object }) => {
    const key = { kind: request.scope.kind, namespace, name };
    return { key, uid, revision, body: checkedBody(key, object) };
  });
}

function nthKey(reader: Connection, request: ScanRequest): Position | undefined {
  const text = built.selectNthKey(stretchOf(request, undefined));
  const [key] = reader.build(
    "selectNthKey",
    text,
    ...stretchParameters(request, undefined),
    request.walk - 1,
  );
  return key as unknown as Position | undefined;
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
  return keys as unknown as readonly Position[];
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
