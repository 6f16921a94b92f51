// Statements for single rows that become one statement for many while there is much to do.

import { DatabaseBusy, DatabaseUnavailable } from "@keelson/database";

export interface GatheringOptions<Item, Result> {
  /** An answer for each, in their order; undefined for whoever has to go alone, because it would have to wait. */
  readonly together: (items: readonly Item[]) => Promise<readonly (Result | undefined)[]>;
  readonly alone: (item: Item) => Promise<Result>;
  /** How many calls may be under way at once, but for those that go alone. */
  readonly atOnceMax: number;
  /** How many items one call takes. */
  readonly togetherMax: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Nobody waits for company: an item goes at once while a call is free, and those that come meanwhile go together when
 * one is. What goes wrong with all of them is tried again one by one, so that each answers for itself alone; not while
 * the database is away, which is nobody's fault.
 */
export class Gathering<Item, Result> {
  readonly #options: GatheringOptions<Item, Result>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #underWay = 0;

  constructor(options: GatheringOptions<Item, Result>) {
    this.#options = options;
  }

  /** How many wait is bounded by whoever calls: each has one item at a time. */
  async run(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (this.#underWay < this.#options.atOnceMax) void this.#work();
    return promise;
  }

  async #work(): Promise<void> {
    this.#underWay += 1;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.togetherMax);
      for (const left of await this.#together(batch)) void this.#alone(left);
    }
    this.#underWay -= 1;
  }

  /** Gives those that have no answer. */
  async #together(
    batch: readonly Waiting<Item, Result>[],
  ): Promise<readonly Waiting<Item, Result>[]> {
    let results: readonly (Result | undefined)[];
    try {
      results = await this.#options.together(batch.map(({ item }) => item));
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) && !(error instanceof DatabaseBusy)) return batch;
      for (const { reject } of batch) reject(error);
      return [];
    }
    return batch.filter(({ resolve }, index) => {
      const result = results[index];
      if (result !== undefined) resolve(result);
      return result === undefined;
    });
  }

  async #alone({ item, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    try {
      resolve(await this.#options.alone(item));
    } catch (error) {
      reject(error);
    }
  }
}
