// Everything the store refuses or fails with. Nobody matches on texts: each has a code and its facts.

import { describeKey, type Key } from "./key.ts";
import type { Expect, Revision } from "./revision.ts";

export type StoreErrorCode =
  | "NotFound"
  | "AlreadyExists"
  | "Conflict"
  | "Expired"
  | "TooNew"
  | "Invalid"
  | "Unavailable"
  | "Full"
  | "Corrupt"
  | "SchemaMismatch"
  | "Locked";

export abstract class StoreError extends Error {
  abstract readonly code: StoreErrorCode;
  override get name(): string {
    return this.code;
  }
}

/** There is no such object. */
export class NotFound extends StoreError {
  readonly code = "NotFound";
  readonly key: Key;
  constructor(key: Key) {
    super(`${describeKey(key)} does not exist`);
    this.key = key;
  }
}

/** The name is taken. */
export class AlreadyExists extends StoreError {
  readonly code = "AlreadyExists";
  readonly key: Key;
  constructor(key: Key) {
    super(`${describeKey(key)} exists already`);
    this.key = key;
  }
}

/** The object has moved on from what the caller expected, or is another object by now. */
export class Conflict extends StoreError {
  readonly code = "Conflict";
  readonly key: Key;
  readonly expected: Expect;
  readonly actual: Required<Expect>;
  constructor(key: Key, expected: Expect, actual: Required<Expect>) {
    super(
      expected.uid !== undefined && expected.uid !== actual.uid
        ? `${describeKey(key)} has uid ${actual.uid}, not ${expected.uid}`
        : `${describeKey(key)} is at revision ${actual.revision}, not ${expected.revision}`,
    );
    this.key = key;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The log no longer reaches back to this revision: list again. */
export class Expired extends StoreError {
  readonly code = "Expired";
  readonly revision: Revision;
  readonly floor: Revision;
  constructor(revision: Revision, floor: Revision) {
    super(`revision ${revision} is below the floor ${floor}`);
    this.revision = revision;
    this.floor = floor;
  }
}

/** The store has not reached this revision. */
export class TooNew extends StoreError {
  readonly code = "TooNew";
  readonly revision: Revision;
  readonly head: Revision;
  constructor(revision: Revision, head: Revision) {
    super(`revision ${revision} is ahead of the head ${head}`);
    this.revision = revision;
    this.head = head;
  }
}

/** The key or the body cannot be stored. */
export class Invalid extends StoreError {
  readonly code = "Invalid";
  readonly key: Key;
  readonly field: string;
  constructor(key: Key, field: string, problem: string) {
    super(`${describeKey(key)}: ${field} ${problem}`);
    this.key = key;
    this.field = field;
  }
}

/** The database did not answer, or not in time. A write that fails so may or may not have happened. */
export class Unavailable extends StoreError {
  readonly code = "Unavailable";
  readonly retryAfterMs: number;
  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? 1000;
  }
}

/** The disk is full. Nothing was written. */
export class Full extends StoreError {
  readonly code = "Full";
}

/** A stored row cannot be decoded; or, without a key, the file itself is damaged. */
export class Corrupt extends StoreError {
  readonly code = "Corrupt";
  readonly key: Key | undefined;
  constructor(message: string, options: ErrorOptions & { readonly key?: Key } = {}) {
    super(message, options);
    this.key = options.key;
  }
}

/** The database's schema is not one that this version can serve. */
export class SchemaMismatch extends StoreError {
  readonly code = "SchemaMismatch";
  readonly found: number;
  readonly wanted: number;
  constructor(
    message: string,
    {
      found,
      wanted,
      ...options
    }: ErrorOptions & { readonly found: number; readonly wanted: number },
  ) {
    super(message, options);
    this.found = found;
    this.wanted = wanted;
  }
}

/** Another process serves this file. */
export class Locked extends StoreError {
  readonly code = "Locked";
}
