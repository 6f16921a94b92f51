// The transactions that write, one after the other, on the one connection that may. Synchronous, and plain: what comes in and
// goes out can be handed to another thread.

import type { Bounds, CutLimits, Outcome } from "../backend.ts";
import type { Columns } from "../columns.ts";
import { type Key, splitKind } from "../key.ts";
import type { Expect, Revision } from "../revision.ts";
import { type Connection, keyParameters } from "./connection.ts";
import type { ObjectRow } from "./scan.ts";

/** A write of a batch, its bodies as texts. */
export type PlainWrite =
  | { readonly type: "create"; readonly key: Key; readonly text: string; readonly columns: Columns }
  | {
      readonly type: "update";
      readonly key: Key;
      readonly text: string;
      readonly columns: Columns;
      readonly expect: Expect & { readonly revision: Revision };
      /** Whether the writer knows the body at that revision, and this one is another. */
      readonly isKnownChange: boolean;
    }
  | {
      readonly type: "delete";
      readonly key: Key;
      readonly expect: Expect;
      readonly final: string | undefined;
    };

/** What became of it. */
export type PlainOutcome =
  | {
      readonly type: "written";
      readonly revision: Revision;
      /** The object before; its body only for a deletion, whose writer may not know it. */
      readonly previous?: {
        readonly revision: Revision;
        readonly uid: string;
        readonly text?: string;
      };
    }
  | Exclude<Outcome, { readonly type: "written" }>;

export interface CommittedBatch {
  readonly head: Revision;
  readonly outcomes: readonly PlainOutcome[];
}

/** How far the counter jumps when the file was restored: further than anybody can have counted meanwhile. */
const leapRevisions = 2 ** 32;

/**
 * One writer, which makes revision order free: revisions are assigned inside the
 * transaction, and no other runs at the same time (S2).
 */
export class Transactions {
  readonly #writer: Connection;
  #bounds: Bounds;
  /** Whether `#bounds` may be behind the file. */
  #isUncertain = false;

  /** Takes the connection over. */
  constructor(writer: Connection) {
    this.#writer = writer;
    this.#bounds = writer.bounds();
  }

  /** As of the last transaction. */
  get bounds(): Bounds {
    return this.#bounds;
  }

  /** Somebody else has written meanwhile: nothing goes back. */
  learn({ head, floor }: Bounds): void {
    const { head: known, floor: cut } = this.#bounds;
    if (head > known || floor > cut) {
      this.#bounds = { head: Math.max(head, known), floor: Math.max(floor, cut) };
    }
  }

  /** Somebody else may have written, and nobody has heard of it: the file is asked. */
  doubt(): void {
    try {
      this.#bounds = this.#writer.bounds();
    } catch {
      this.#isUncertain = true; // Before the next write it is asked again.
    }
  }

  /** Writes a batch, all of it or nothing; `now` is what its rows say of the time. */
  commit(batch: readonly PlainWrite[], now: string): CommittedBatch {
    return this.#transaction(() => {
      let { head } = this.#bounds;
      const growth = new Map<
        string,
        { group: string; kind: string; namespace: string; objects: number }
      >();
      const outcomes = batch.map((write): PlainOutcome => {
        const outcome = this.#apply(write, head + 1, now);
        if (outcome.type !== "written") return outcome;
        head = outcome.revision; // S2: assigned inside the only transaction there is.
        if (write.type !== "update") addGrowth(growth, write.key, write.type === "create" ? 1 : -1);
        return outcome;
      });
      if (head !== this.#bounds.head) {
        for (const { group, kind, namespace, objects } of growth.values()) {
          this.#writer.run("addCount", group, kind, namespace, objects);
        }
        this.#writer.run("updateHead", head);
      }
      return { result: { head, outcomes }, bounds: { ...this.#bounds, head } };
    });
  }

  /** As `Backend.cut`. */
  cut(upTo: Revision, { entries, bytes }: CutLimits): Bounds & { readonly done: boolean } {
    return this.#transaction(() => {
      const target = Math.min(upTo, this.#bounds.head);
      const next = this.#writer.one("selectCut", target, entries, entries, bytes)?.["revision"];
      const done = typeof next !== "number";
      const last = done ? target : next - 1;
      // Everything before the next entry that stays goes, and the floor says so in the same transaction (S13).
      const floor = Math.max(this.#bounds.floor, last);
      const head = done ? this.#bounds.head + 1 : this.#bounds.head;
      this.#writer.run("deleteChanges", last);
      this.#writer.run("updateBounds", head, floor);
      // Namespaces come and go, and a count over all of them must not grow with those that are gone.
      if (done) this.#writer.run("forgetCounts");
      return { result: { head, floor, done }, bounds: { head, floor } };
    });
  }

  /** As `Backend.leap`. */
  leap(): Bounds {
    return this.#transaction(() => {
      const head = this.#bounds.head + leapRevisions;
      this.#writer.run("updateBounds", head, head);
      const bounds = { head, floor: head };
      return { result: bounds, bounds };
    });
  }

  close(): void {
    this.#writer.close();
  }

  /** Object and log row, or nothing at all (S3). */
  #apply(write: PlainWrite, revision: Revision, now: string): PlainOutcome {
    const key = keyParameters(write.key);
    if (write.type === "create") {
      const { uid, apiVersion, generation, labels, deletedAt } = write.columns;
      const { text } = write;
      const { changes } = this.#writer.run(
        "insertObject",
        ...key,
        revision,
        uid,
        apiVersion,
        generation,
        labels,
        deletedAt,
        text,
        now,
        now,
      );
      if (changes === 0) return { type: "exists" };
      this.#writer.run("insertChange", revision, "ADDED", ...key, uid, text, null, null);
      return { type: "written", revision };
    }

    if (write.type === "update") {
      const previous = this.#replace(write, revision, now);
      if (previous !== undefined) return { type: "written", revision, previous };
    }

    const current = this.#writer.one("selectObject", ...key) as ObjectRow | undefined;
    if (current === undefined) return { type: "missing" };
    const { expect } = write;
    const actual = { revision: current.resource_version, uid: current.uid };
    // S5: compared inside the transaction that writes.
    if (expect.revision !== undefined && expect.revision !== actual.revision)
      return { type: "conflict", actual };
    if (expect.uid !== undefined && expect.uid !== actual.uid) return { type: "conflict", actual };

    if (write.type === "delete") {
      const text = write.final ?? current.object;
      this.#writer.run("deleteObject", ...key);
      this.#writer.run(
        "insertChange",
        revision,
        "DELETED",
        ...key,
        actual.uid,
        text,
        write.final === undefined ? null : current.object,
        actual.revision,
      );
      return { type: "written", revision, previous: { ...actual, text: current.object } };
    }

    const { text } = write;
    if (text === current.object) return { type: "unchanged", revision: actual.revision };
    const { uid } = write.columns;
    this.#update(write, revision, now);
    this.#writer.run(
      "insertChange",
      revision,
      "MODIFIED",
      ...key,
      uid,
      text,
      current.object,
      actual.revision,
    );
    return { type: "written", revision, previous: actual };
  }

  /** Replaces a body that its writer knows, which need not be read to be logged; undefined if there is more to find out. */
  #replace(
    write: PlainWrite & { readonly type: "update" },
    revision: Revision,
    now: string,
  ): { readonly revision: Revision; readonly uid: string } | undefined {
    const { key, text, columns, expect, isKnownChange } = write;
    if (!isKnownChange || expect.uid !== undefined) return undefined;
    const { uid } = columns;
    const at = [...keyParameters(key), expect.revision, uid] as const;
    // S5: compared inside the transaction that writes.
    const { changes } = this.#writer.run("insertReplacement", revision, text, ...at);
    if (changes === 0) return undefined;
    this.#update(write, revision, now);
    return { revision: expect.revision, uid };
  }

  #update(
    { key, text, columns }: PlainWrite & { readonly type: "update" },
    revision: Revision,
    now: string,
  ): void {
    const { uid, apiVersion, generation, labels, deletedAt } = columns;
    this.#writer.run(
      "updateObject",
      revision,
      uid,
      apiVersion,
      generation,
      labels,
      deletedAt,
      text,
      now,
      ...keyParameters(key),
    );
  }

  /** Whatever a failed COMMIT left behind, the next revision goes after what the file says (S1). */
  #recover(): void {
    try {
      this.#writer.rollback();
      this.#bounds = this.#writer.bounds();
    } catch {
      // A file that cannot be read now is asked again before the next write; the first failure is the one to tell.
      this.#isUncertain = true;
    }
  }

  /** Begin, `run`, commit, and only then the new bounds are true. */
  #transaction<T>(run: () => { readonly result: T; readonly bounds: Bounds }): T {
    if (this.#isUncertain) this.#bounds = this.#writer.bounds();
    this.#isUncertain = false;
    this.#writer.run("begin");
    try {
      const { result, bounds } = run();
      this.#writer.run("commit");
      this.#bounds = bounds;
      return result;
    } catch (error) {
      this.#recover();
      throw error;
    }
  }
}

function addGrowth(
  growth: Map<string, { group: string; kind: string; namespace: string; objects: number }>,
  key: Key,
  objects: number,
): void {
  const { kind, group } = splitKind(key.kind);
  const id = `${key.kind}\0${key.namespace}`;
  const entry = growth.get(id) ?? { group, kind, namespace: key.namespace, objects: 0 };
  entry.objects += objects;
  growth.set(id, entry);
}
