// No service outside may hold more than half of the workers: one that hangs must not keep apps waiting that do not
// need it. Whoever finds its lane full waits without a worker, and is called when its turn comes.

/** Keys at work on one service. */
class Lane {
  readonly #max: number;
  readonly #call: (key: string) => number;
  readonly #inside = new Set<string>();
  /** Their place is kept: they have been called, and are on their way. With the run until which it is kept. */
  readonly #called = new Map<string, number>();
  readonly #waiting = new Set<string>();

  /** `call` gives the run of the key that will come of it. */
  constructor(max: number, call: (key: string) => number) {
    this.#max = max;
    this.#call = call;
  }

  /** A place, to be given back; undefined: the key will be called. */
  enter(key: string): Disposable | undefined {
    const isCalled = this.#called.delete(key);
    if (!isCalled && this.#inside.size + this.#called.size >= this.#max) {
      this.#waiting.add(key);
      return undefined;
    }
    this.#waiting.delete(key);
    this.#inside.add(key);
    return { [Symbol.dispose]: () => this.#leave(key) };
  }

  /** A run has ended: what was kept for it and not used goes to the next. */
  endOf(key: string, run: number): void {
    const until = this.#called.get(key);
    if (until === undefined || until > run) return;
    this.#called.delete(key);
    this.#callNext();
  }

  #leave(key: string): void {
    if (this.#inside.delete(key)) this.#callNext();
  }

  #callNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#inside.size + this.#called.size >= this.#max) return;
    this.#waiting.delete(next);
    this.#called.set(next, this.#call(next));
  }
}

export class Lanes<Service extends string> {
  readonly #lanes = new Map<Service, Lane>();
  readonly #max: number;
  readonly #call: (key: string) => number;
  /** The number of the run under way. */
  readonly #runs = new Map<string, number>();
  #count = 0;

  /** `call` brings a key back into the queue: it is run once more, after its present run if there is one. */
  constructor({
    workers,
    call,
  }: {
    readonly workers: number;
    readonly call: (key: string) => void;
  }) {
    this.#max = Math.max(1, Math.floor(workers / 2));
    this.#call = (key) => {
      call(key);
      // Of one that is being run only the next run can come for its place.
      return this.#runs.has(key) ? this.#count + 1 : 0;
    };
  }

  /** A run of a key; disposed of, it has ended. */
  begin(key: string): Disposable {
    const run = ++this.#count;
    this.#runs.set(key, run);
    return {
      [Symbol.dispose]: () => {
        this.#runs.delete(key);
        for (const lane of this.#lanes.values()) lane.endOf(key, run);
      },
    };
  }

  /** A place at a service; undefined if there is none now: the key will be called when there is. */
  enter(service: Service, key: string): Disposable | undefined {
    let lane = this.#lanes.get(service);
    if (lane === undefined) {
      lane = new Lane(this.#max, this.#call);
      this.#lanes.set(service, lane);
    }
    return lane.enter(key);
  }
}
