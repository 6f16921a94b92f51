// Looks into the database past the store, so that no bug of the store can colour what is seen.

import { DatabaseSync } from "node:sqlite";
import type { Backend } from "@keelson/store";
import type { EntryFact, Recorder, RowFact, Tables } from "../history.ts";
import { scopes } from "../workload.ts";

export interface Sight {
  readonly head: number;
  readonly floor: number;
  /** By revision. */
  readonly entries: readonly EntryFact[];
}

/** Reads the log and the tables, each as one snapshot. */
export interface Look {
  sight(): Promise<Sight>;
  tables(): Promise<Tables>;
}

/** Records looks; entries that were recorded before come only as their revision. */
export class Observer {
  readonly #look: Look;
  readonly #recorder: Recorder;
  readonly #seen = new Map<number, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(look: Look, recorder: Recorder) {
    this.#look = look;
    this.#recorder = recorder;
  }

  /** Answers the head: everything up to it has been recorded. One look at a time, so that they are in order. */
  observe(): Promise<number> {
    const look = this.#last.then(() => this.#observe());
    this.#last = look.catch(() => undefined);
    return look;
  }

  async #observe(): Promise<number> {
    const { head, floor, entries } = await this.#look.sight();
    const fresh = entries.filter((entry) => this.#seen.get(entry.revision) !== contentOf(entry));
    for (const entry of fresh) this.#seen.set(entry.revision, contentOf(entry));
    const revisions = entries.map(({ revision }) => revision);
    this.#recorder.record({ type: "observed", head, floor, revisions, entries: fresh });
    return head;
  }

  tables(): Promise<Tables> {
    return this.#look.tables();
  }
}

/** Rows as both databases give them; numbers may come as text. */
export interface RawEntry {
  readonly revision: number | string;
  readonly type: EntryFact["type"];
  readonly api_group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly object: string;
  readonly previous: string | null;
  readonly previous_revision: number | string | null;
}

export type RawRow = Pick<
  RawEntry,
  "api_group" | "kind" | "namespace" | "name" | "uid" | "object"
> & { readonly resource_version: number | string };

export function entryFact(raw: RawEntry): EntryFact {
  const { type, uid, object, previous, previous_revision } = raw;
  const entry = { type, key: keyOf(raw), uid, revision: Number(raw.revision), body: object };
  if (previous_revision === null) return entry;
  return {
    ...entry,
    previous: { revision: Number(previous_revision), body: previous ?? object },
  };
}

export function rowFactOf(raw: RawRow): RowFact {
  const { uid, resource_version, object } = raw;
  return { key: keyOf(raw), uid, revision: Number(resource_version), body: object };
}

/** A SQLite file, through a connection of our own. */
export class SqliteLook implements Look, Disposable {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    // Whoever writes may hold it for a moment.
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  }

  async sight(): Promise<Sight> {
    this.#database.exec("BEGIN");
    const { head, floor } = this.#bounds();
    const entries = this.#all<RawEntry>("SELECT * FROM changes ORDER BY revision").map(entryFact);
    this.#database.exec("COMMIT");
    return { head, floor, entries };
  }

  async tables(): Promise<Tables> {
    this.#database.exec("BEGIN");
    const bounds = this.#bounds();
    const rows = this.#all<RawRow>("SELECT * FROM resources").map(rowFactOf);
    const counts = countsOf(this.#all<RawCount>("SELECT * FROM counts"));
    this.#database.exec("COMMIT");
    return { ...bounds, rows, counts };
  }

  /** What SQLite itself says of the file. */
  integrity(): string {
    return String(
      this.#all<{ integrity_check: string }>("PRAGMA integrity_check")[0]?.integrity_check,
    );
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #bounds(): { readonly head: number; readonly floor: number } {
    const [bounds] = this.#all<{ head: number; floor: number }>("SELECT head, floor FROM meta");
    if (bounds === undefined) throw new Error("the row of the counter is missing");
    return { head: bounds.head, floor: bounds.floor };
  }

  #all<T>(text: string): T[] {
    return this.#database.prepare(text).all() as T[];
  }
}

export interface RawCount {
  readonly api_group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly objects: number | string;
}

/** The counts of every scope, those that nobody has counted included. */
export function countsOf(raws: readonly RawCount[]): Tables["counts"] {
  const counted = raws.map((raw) => ({
    ...keyOf({ ...raw, name: "" }),
    objects: Number(raw.objects),
  }));
  return scopes.map((scope) => {
    const within = counted.filter(
      ({ kind, namespace }) =>
        kind === scope.kind && (scope.namespace === "" || namespace === scope.namespace),
    );
    return { scope, objects: within.reduce((sum, { objects }) => sum + objects, 0) };
  });
}

/** A database in memory can be seen only through its backend. */
export class BackendLook implements Look {
  readonly #backend: () => Backend;

  constructor(backend: () => Backend) {
    this.#backend = backend;
  }

  async sight(): Promise<Sight> {
    const page = await this.#log();
    const entries = page.entries.map(({ type, key, uid, revision, body, previous }): EntryFact => {
      const entry = { type, key, uid, revision, body: body.text };
      if (previous === undefined) return entry;
      return { ...entry, previous: { revision: previous.revision, body: previous.body.text } };
    });
    return { head: page.head, floor: page.floor, entries };
  }

  /** The whole log; again if it was cut between the two reads. */
  async #log(): Promise<Awaited<ReturnType<Backend["log"]>>> {
    const signal = new AbortController().signal;
    for (;;) {
      const { floor } = await this.#backend().bounds(signal);
      try {
        return await this.#backend().log(floor, { entries: 1e6, text: 1e9 }, signal);
      } catch (error) {
        if ((error as { code?: string }).code !== "Expired") throw error;
      }
    }
  }

  async tables(): Promise<Tables> {
    const signal = new AbortController().signal;
    const bounds = await this.#backend().bounds(signal);
    const rows: RowFact[] = [];
    for (const scope of scopes.filter(({ namespace }) => namespace === "")) {
      const request = { scope, after: undefined, walk: 1e6, at: undefined, labels: [] };
      const scanned = await this.#backend().scan({ ...request, name: undefined }, signal);
      rows.push(
        ...scanned.rows.map(({ key, uid, revision, body }) => {
          return { key, uid, revision, body: body.text };
        }),
      );
    }
    const counts = await Promise.all(
      scopes.map(async (scope) => {
        return { scope, objects: await this.#backend().count(scope, undefined, signal) };
      }),
    );
    return { ...bounds, rows, counts };
  }
}

function keyOf({
  api_group,
  kind,
  namespace,
  name,
}: Pick<RawEntry, "api_group" | "kind" | "namespace" | "name">) {
  return { kind: api_group === "" ? kind : `${kind}.${api_group}`, namespace, name };
}

function contentOf({ type, key, uid, body, previous }: EntryFact): string {
  return JSON.stringify([type, key, uid, body, previous?.revision, previous?.body]);
}
