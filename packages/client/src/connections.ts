import type { Dispatcher } from "undici";

/**
 * The connections of one identity. Once retired they end with the last that is under way on them, or when they are cut.
 *
 * Not by `close()` of the dispatcher: an agent that is told to close forgets its pools, and a `destroy()` after that ends
 * nothing any more.
 */
export class Connections {
  readonly identity: string;
  readonly dispatcher: Dispatcher;
  readonly madeAtMs: number;
  readonly #ended = Promise.withResolvers<void>();
  #underWay = 0;
  #isRetired = false;

  constructor(options: {
    readonly identity: string;
    readonly dispatcher: Dispatcher;
    readonly madeAtMs: number;
  }) {
    this.identity = options.identity;
    this.dispatcher = options.dispatcher;
    this.madeAtMs = options.madeAtMs;
  }

  /** Something is under way until the result is disposed of. */
  use(): Disposable {
    this.#underWay += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#underWay -= 1;
        if (this.#isRetired && this.#underWay === 0) void this.cut();
      },
    };
  }

  /** Nothing more will be sent on them. Resolves when they have ended. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#underWay === 0) await this.cut();
    await this.#ended.promise;
  }

  /** Ends them, and what is under way with a failure. */
  async cut(): Promise<void> {
    await this.dispatcher.destroy().catch(() => undefined);
    this.#ended.resolve();
  }
}
