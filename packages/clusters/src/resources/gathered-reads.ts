// Reads of single rows that come in one turn of the event loop, asked for by one statement.

import { setImmediate } from "node:timers";
import { untilAbort } from "@keelson/base";

/** How many one statement reads at most. */
const batchMax = 256;

export interface GatheredReadsOptions<Row extends { readonly id: string }> {
  /** Reads rows by their ids. What is not there is not in the answer. */
  readonly read: (ids: readonly string[]) => Promise<readonly Row[]>;
}

/**
 * Most of what reading a row costs is the message to the database and back, so those who ask at once share it. Nobody
 * waits for others: a statement is sent at the end of the turn in which it was asked for, whatever else is under way,
 * and so it sees whatever was committed before anybody asked.
 */
export class GatheredReads<Row extends { readonly id: string }> {
  readonly #read: GatheredReadsOptions<Row>["read"];
  #waiting = new Map<string, PromiseWithResolvers<Row | undefined>>();

  constructor({ read }: GatheredReadsOptions<Row>) {
    this.#read = read;
  }

  /** The row, or undefined. Rejects with what the statement failed with, or with the reason of `signal`. */
  async find(id: string, signal: AbortSignal): Promise<Row | undefined> {
    signal.throwIfAborted();
    let asked = this.#waiting.get(id);
    if (asked === undefined) {
      if (this.#waiting.size === 0) setImmediate(() => this.#send());
      asked = Promise.withResolvers();
      asked.promise.catch(() => undefined); // All who asked may have gone.
      this.#waiting.set(id, asked);
      if (this.#waiting.size === batchMax) this.#send();
    }
    return await untilAbort(asked.promise, signal);
  }

  #send(): void {
    const asked = this.#waiting;
    if (asked.size === 0) return;
    this.#waiting = new Map();
    this.#read([...asked.keys()]).then(
      (rows) => {
        const found = new Map(rows.map((row) => [row.id, row]));
        for (const [id, { resolve }] of asked) resolve(found.get(id));
      },
      (error: unknown) => {
        for (const { reject } of asked.values()) reject(error);
      },
    );
  }
}
