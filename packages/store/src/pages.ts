// Lists: every page of one list shows the state at the same revision, whatever is written meanwhile.

import { setImmediate } from "node:timers";
import type { Backend, KnownRows, Row, ScanRequest } from "./backend.ts";
import { Expired, TooNew } from "./errors.ts";
import { comparePositions, type Position, type Scope } from "./key.ts";
import type { Revision } from "./revision.ts";
import { matches, nameOf, type Selector, selectsAll } from "./selector.ts";

/** Where the next page of a list begins. */
export interface Cursor {
  /** The revision of the list; undefined: go on with the state as it is now. */
  readonly revision?: Revision;
  readonly after: Position;
  /** How many objects come after that place, if the list has no selector. */
  readonly remaining?: number;
}

export interface ListOptions {
  readonly selector?: Selector;
  /** How many matching objects at the most; undefined: all of them. */
  readonly limit?: number;
  readonly continue?: Cursor;
  /** The state at this revision (exact), or at this or any newer one. */
  readonly revision?: Revision;
  readonly match?: "exact" | "notOlderThan";
}

export interface Page {
  readonly items: readonly Row[];
  /** The head of the snapshot: a watch from it sees what comes after the list, never an item's own revision. */
  readonly revision: Revision;
  readonly continue?: Cursor;
  /** Exact without a selector; absent with one, on the last page, and if the log was cut meanwhile. */
  readonly remaining?: number;
}

/**
 * Objects walked over in one read: small enough that a synchronous database holds up nobody, and enough for a
 * page of 500, as most clients ask for, and the object behind it that says whether there is another page.
 */
const walkMax = 512;

/**
 * Conditions on labels that the database is asked to look at: it takes longer over each than we do, and SQLite takes a
 * thousand and no more.
 */
const labelsMax = 16;

/** What is listed, and how to learn what memory has of it. */
export interface Collection {
  readonly scope: Scope;
  readonly known?: () => KnownRows;
}

/** Reads one page. */
export async function readPage(
  backend: Pick<Backend, "scan" | "count">,
  request: Collection & ListOptions,
  signal: AbortSignal,
): Promise<Page> {
  const { limit, selector = {} } = request;
  const items: Row[] = [];
  let revision: Revision | undefined;
  for await (const stretch of walk(backend, request, signal)) {
    revision = stretch.revision;
    for (const row of stretch.rows) items.push(row);
    if (limit !== undefined && items.length > limit) break;
  }
  if (revision === undefined) throw new Error("a walk has at least one stretch");
  if (limit === undefined || items.length <= limit) return { items, revision };

  items.length = limit;
  const last = items.at(-1)?.key ?? request.continue?.after ?? { namespace: "", name: "" };
  const after = { namespace: last.namespace, name: last.name };
  if (!selectsAll(selector)) return { items, revision, continue: { revision, after } };

  const before =
    request.continue?.remaining ?? (await countAfter(backend, request, revision, signal));
  // The log was cut after the page was read: there is nothing left to count by.
  if (before === undefined) return { items, revision, continue: { revision, after } };
  const remaining = before - items.length;
  return { items, revision, continue: { revision, after, remaining }, remaining };
}

/** The collection in its order, all of it as of one revision, stretch by stretch. */
export async function* walk(
  backend: Pick<Backend, "scan">,
  request: Collection & ListOptions,
  signal: AbortSignal,
): AsyncGenerator<{ readonly revision: Revision; readonly rows: readonly Row[] }> {
  const { scope, known, selector = {}, limit, match } = request;
  let at = request.continue?.revision ?? (match === "exact" ? request.revision : undefined);
  let after: Position | undefined = request.continue?.after;
  /** Without a selector every object counts: no more need be read than are left to find. */
  let wanted = limit === undefined || !selectsAll(selector) ? Infinity : limit + 1;
  for (;;) {
    const scan: ScanRequest = {
      scope,
      after,
      at,
      walk: Math.min(wanted, walkMax),
      labels: (selector.labels ?? []).slice(0, labelsMax),
      name: nameOf(selector),
      ...(known === undefined ? {} : { known: known() }),
    };
    const { rows, reached, head } = await backend.scan(scan, signal);
    at ??= head;
    if (request.revision !== undefined && request.revision > at)
      throw new TooNew(request.revision, at);
    yield {
      revision: at,
      rows: selectsAll(selector) ? rows : rows.filter(({ body }) => matches(selector, body.value)),
    };
    if (reached === undefined) return;
    // A stretch that held less than was walked is of the past: then what is left may lie far away.
    wanted = rows.length < scan.walk ? Infinity : Math.max(1, wanted - rows.length);
    if (after !== undefined && comparePositions(reached, after) <= 0)
      throw new Error("a scan must get on");
    after = reached;
    // A long list lets others in between its reads.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Without a count in the cursor somebody made it by hand: count what comes after it.
 * Undefined if the floor has passed `revision` meanwhile.
 */
async function countAfter(
  backend: Pick<Backend, "scan" | "count">,
  request: Collection & ListOptions,
  revision: Revision,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { scope } = request;
  const start = request.continue?.after;
  try {
    if (start === undefined) return await backend.count(scope, revision, signal);
    let count = 0;
    const rest = { scope, continue: { revision, after: start } };
    for await (const { rows } of walk(backend, rest, signal)) count += rows.length;
    return count;
  } catch (error) {
    if (error instanceof Expired) return undefined;
    throw error;
  }
}
