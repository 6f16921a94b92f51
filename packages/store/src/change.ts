// What a watch carries.

import type { LogEntry } from "./backend.ts";
import type { Body } from "./body.ts";
import { decoded } from "./columns.ts";
import type { Key } from "./key.ts";
import type { Revision } from "./revision.ts";
import { matches, nameOf, type Selector, selectsAll } from "./selector.ts";

/**
 * A change of one object. Watchers share it: it is made once, and what is
 * encoded of it is encoded once.
 */
export class Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: Revision;
  readonly key: Key;
  readonly uid: string;
  /** The new body; for DELETED the last state that the watcher could see. */
  readonly body: Body;
  /** The body before, where there was one. */
  readonly previous: Body | undefined;
  /** When this process learned of the commit, by its monotonic clock; undefined for what lay in the log before. */
  readonly committedAt: number | undefined;
  #encoded: Map<unknown, unknown> | undefined;

  constructor(fields: {
    readonly type: Change["type"];
    readonly revision: Revision;
    readonly key: Key;
    readonly uid: string;
    readonly body: Body;
    readonly previous: Body | undefined;
    readonly committedAt?: number | undefined;
  }) {
    this.type = fields.type;
    this.revision = fields.revision;
    this.key = fields.key;
    this.uid = fields.uid;
    this.body = fields.body;
    this.previous = fields.previous;
    this.committedAt = fields.committedAt;
  }

  static of(entry: LogEntry, committedAt?: number): Change {
    return new Change({ ...entry, previous: entry.previous?.body, committedAt });
  }

  /** What `encode` makes of this change, made once however many watchers ask for it. */
  encoded<T>(encode: (change: Change) => T): T {
    this.#encoded ??= new Map();
    if (!this.#encoded.has(encode)) this.#encoded.set(encode, encode(this));
    return this.#encoded.get(encode) as T; // Put there by this `encode`, just above or earlier.
  }

  /** About how much memory the change holds. */
  get bytes(): number {
    return this.body.bytes + (this.previous?.bytes ?? 0) + 256;
  }
}

/**
 * A mark in the stream: everything at or below `revision` has been handed out
 * before it (S12). `initialEventsEnd` is set on the one that ends the initial state.
 */
export interface Bookmark {
  readonly type: "BOOKMARK";
  readonly revision: Revision;
  readonly initialEventsEnd: boolean;
}

/** Which changes a watcher is told of, and in which shape. */
export class Filter {
  readonly kind: string;
  readonly namespace: string;
  readonly selector: Selector;
  /** Equal for filters that let the same through. */
  readonly signature: string;
  readonly #all: boolean;
  readonly #name: string | undefined;

  constructor(kind: string, namespace: string, selector: Selector) {
    this.kind = kind;
    this.namespace = namespace;
    this.selector = selector;
    this.signature = JSON.stringify([kind, namespace, selector]);
    this.#all = selectsAll(selector);
    this.#name = nameOf(selector);
  }

  /**
   * The change as this watcher sees it (S11): an object that starts to match was
   * added, one that stops to match was deleted, with its last matching state and
   * the revision of the change that took it away.
   */
  see(change: Change): Change | undefined {
    if (change.key.kind !== this.kind) return undefined;
    if (this.namespace !== "" && change.key.namespace !== this.namespace) return undefined;
    // No body need be read for what its key says.
    if (this.#name !== undefined && change.key.name !== this.#name) return undefined;
    decoded(change.body); // A damaged entry fails the watches it concerns, and no others.
    if (this.#all) return change;

    const { previous } = change;
    const before = previous !== undefined && matches(this.selector, previous.value);
    if (change.type === "DELETED") return before ? change : undefined;
    const after = matches(this.selector, change.body.value);
    if (before && after) return change;
    if (after)
      return change.type === "ADDED" ? change : new Change({ ...facts(change), type: "ADDED" });
    return before ? new Change({ ...facts(change), type: "DELETED", body: previous }) : undefined;
  }
}

function facts({
  type,
  revision,
  key,
  uid,
  body,
  previous,
  committedAt,
}: Change): ConstructorParameters<typeof Change>[0] {
  return { type, revision, key, uid, body, previous, committedAt };
}
