// An object by its key: from memory where that is as good as the database (S7), else from there.

import type { Backend, KnownRows, Row } from "./backend.ts";
import type { Body } from "./body.ts";
import type { Key } from "./key.ts";
import type { ObjectCache } from "./object-cache.ts";
import type { Revision } from "./revision.ts";

export interface ObjectReadsOptions {
  readonly backend: Pick<Backend, "head" | "headNow" | "read">;
  readonly cache: ObjectCache;
  /** Up to where memory knows every change. */
  readonly cursor: () => Revision;
  /** Somebody has committed what memory does not know yet. */
  readonly onBehind: () => void;
}

export class ObjectReads {
  readonly #options: ObjectReadsOptions;

  constructor(options: ObjectReadsOptions) {
    this.#options = options;
  }

  /** What memory has, where it is known at once that nothing newer is committed. */
  current(key: Key): Row | undefined {
    const { backend, cache, cursor } = this.#options;
    const head = backend.headNow?.();
    return head === undefined || cursor() < head ? undefined : cache.get(key);
  }

  /** Memory answers only if it is level with a head read after the call began. */
  async find(key: Key, signal: AbortSignal): Promise<Row | undefined> {
    const { backend, cache, cursor, onBehind } = this.#options;
    signal.throwIfAborted();
    if (cache.revisionOf(key) !== undefined) {
      const before = cursor();
      const head = await backend.head(signal);
      const isLevel = cursor() >= head && head >= before;
      const cached = isLevel ? cache.get(key) : undefined;
      if (cached !== undefined) return cached;
      if (!isLevel) onBehind();
    }
    const { row, head } = await backend.read(key, signal);
    // A row from a snapshot that the hub has passed could be old already.
    if (row !== undefined && cursor() <= head) cache.put(row);
    return row;
  }

  /** The stored body, if it is of that revision. */
  async bodyAt(key: Key, revision: Revision, signal: AbortSignal): Promise<Body | undefined> {
    const cached = this.#options.cache.get(key);
    const stored = cached?.revision === revision ? cached : await this.find(key, signal);
    return stored?.revision === revision ? stored.body : undefined;
  }

  /** What memory knows, as of the hub's cursor: who reads at that very revision need not read it again. */
  readonly known = (): KnownRows => {
    const { cache, cursor } = this.#options;
    return {
      at: cursor(),
      find: (key) => cache.peek(key),
      learn: (rows, head) => {
        // Rows from a snapshot that the hub has passed could be old already.
        if (cursor() <= head) cache.fill(rows);
      },
    };
  };
}
