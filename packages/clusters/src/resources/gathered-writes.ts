// Writes of single rows that become one statement for many while there is much to do.

import { DatabaseBusy, isTransient, TransactionConflict } from "@keelson/database";

export interface GatheredWritesOptions<Item, Result> {
  /** All of them or none, in one transaction; an answer for each, in their order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
}

/** How many statements may be under way at once: while one is being synced, the next is at work. */
const atOnceMax = 2;
/** How many rows one statement takes. */
const togetherMax = 100;
/** How many may wait; the next one is refused. */
const waitingMax = 1_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Nobody waits for company: an item goes at once while a statement is free, and those that come meanwhile go together
 * when one is. What is wrong with one of them is not the others': then each goes by itself.
 */
export class GatheredWrites<Item, Result> {
  readonly #write: GatheredWritesOptions<Item, Result>["write"];
  #waiting: Waiting<Item, Result>[] = [];
  #underWay = 0;

  constructor({ write }: GatheredWritesOptions<Item, Result>) {
    this.#write = write;
  }

  /** Writes it, whoever else goes away meanwhile. Rejects with what its statement failed with. */
  async run(item: Item, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted(); // The last chance: what waits here is as good as sent.
    if (this.#waiting.length >= waitingMax) {
      throw new DatabaseBusy(`${this.#waiting.length} writes wait already`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (this.#underWay < atOnceMax) void this.#work();
    return promise;
  }

  async #work(): Promise<void> {
    this.#underWay++;
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, togetherMax));
    this.#underWay--;
  }

  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (isEverybodys(error)) {
        // Who waits has waited as long, for a database that is not there.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
      } else if (batch.length === 1) {
        batch[0]?.reject(error);
      } else {
        for (const one of batch) await this.#send([one]);
      }
    }
  }
}

/** A statement that was not answered may be done: sent once more, it would find itself in its way. */
function isEverybodys(error: unknown): boolean {
  return isTransient(error) && !(error instanceof TransactionConflict);
}
