// Which keys have something to do. A key is in it once, however often it is added; it is run by one at a time; what
// is added during a run is run once more after it.

import { Backoff, onAbort, type BackoffOptions, type Clock, type Random } from "@keelson/base";

import { DueTimes } from "./due-times.ts";
import { Lane, type Ticket } from "./lane.ts";

/** What goes first. Of sixteen turns one goes to the lowest that waits: nobody starves. */
export type QueuePriority = "high" | "normal" | "low";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Keys of one group take turns with those of others; by default all are of one. */
  readonly groupOf?: (key: string) => string;
  readonly backoff?: QueueBackoff;
  /** How long after a failure a key is left alone whatever happens: its own writes would bring it back at once. */
  readonly restMs?: number;
}

/** How the waits after failures grow; see `Backoff`. */
export type QueueBackoff = Omit<BackoffOptions, "random">;

/** A key that somebody has taken. Exactly one of `done` and `failed` must be called. */
export interface Run {
  readonly key: string;
  /** How long it was ready before it was taken. */
  readonly waitedMs: number;
  /** How often in a row it has failed before. */
  readonly failures: number;
  /** It went well. With `afterMs` it is ready again after that time, or sooner if it is added. */
  done(afterMs?: number): void;
  /** It went wrong: it is ready again after a wait that grows, with jitter, and is not less than told. Gives the wait. */
  failed(atLeastMs?: number): number;
}

const priorities = ["high", "normal", "low"] as const;
const turnsInARow = 16;

interface Entry {
  readonly key: string;
  state: "ready" | "running" | "idle";
  priority: QueuePriority;
  readyAtMs: number;
  /** Its place, while it is ready. */
  ticket: Ticket<Entry> | undefined;
  /** Added during its run. */
  again: QueuePriority | undefined;
  backoff: Backoff | undefined;
  /** Not to be run before this, whatever happens. */
  restUntilMs: number;
}

export class WorkQueue {
  readonly #options: Required<WorkQueueOptions>;
  readonly #entries = new Map<string, Entry>();
  readonly #lanes: Record<QueuePriority, Lane<Entry>> = {
    high: new Lane(),
    normal: new Lane(),
    low: new Lane(),
  };
  readonly #due: DueTimes;
  readonly #takers = new Set<(entry: Entry) => void>();
  #running = 0;
  #turns = 0;

  constructor({
    groupOf = () => "",
    backoff = { initialMs: 50, maxMs: 60_000 },
    restMs = 1_000,
    ...rest
  }: WorkQueueOptions) {
    this.#options = { ...rest, groupOf, backoff, restMs };
    this.#due = new DueTimes(rest.clock, (key) => this.add(key, "normal"));
  }

  /** Keys that are ready and not yet taken. */
  get ready(): number {
    const { high, normal, low } = this.#lanes;
    return high.size + normal.size + low.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#due.size;
  }

  /** Keys that are being run. */
  get running(): number {
    return this.#running;
  }

  /** Something is to be done about `key`. A key that is in it already is only raised in priority. */
  add(key: string, priority: QueuePriority = "normal"): void {
    const entry = this.#entries.get(key) ?? this.#enter(key, priority);
    if (entry.state === "running") {
      entry.again = higherOf(entry.again ?? priority, priority);
      return;
    }
    if (entry.state === "ready") {
      if (higherOf(entry.priority, priority) === entry.priority) return;
      this.#leaveLane(entry);
      this.#makeReady(entry, priority);
      return;
    }
    const restMs = entry.restUntilMs - this.#options.clock.monotonic();
    if (restMs > 0) {
      this.#due.sooner(key, restMs);
      return;
    }
    this.#due.cancel(key);
    this.#makeReady(entry, priority);
  }

  /** `key` is ready after `afterMs`, or sooner if it is added or already due sooner. */
  addAfter(key: string, afterMs: number): void {
    const entry = this.#entries.get(key) ?? this.#enter(key, "normal");
    if (entry.state !== "ready") this.#due.sooner(key, afterMs);
  }

  /** Takes the next key, waiting for one. Rejects with `signal.reason`. */
  async take(signal: AbortSignal): Promise<Run> {
    signal.throwIfAborted();
    const next = this.#next();
    if (next !== undefined) return this.#begin(next);
    const { promise, resolve, reject } = Promise.withResolvers<Entry>();
    this.#takers.add(resolve);
    using _listener = onAbort(signal, () => {
      this.#takers.delete(resolve);
      reject(signal.reason as Error);
    });
    return this.#begin(await promise);
  }

  /** Nothing fires any more. What is ready can still be taken. */
  [Symbol.dispose](): void {
    this.#due[Symbol.dispose]();
  }

  #enter(key: string, priority: QueuePriority): Entry {
    const entry: Entry = {
      key,
      state: "idle",
      priority,
      readyAtMs: 0,
      ticket: undefined,
      again: undefined,
      backoff: undefined,
      restUntilMs: Number.NEGATIVE_INFINITY,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #makeReady(entry: Entry, priority: QueuePriority): void {
    entry.priority = priority;
    entry.readyAtMs = this.#options.clock.monotonic();
    for (const taker of this.#takers) {
      this.#takers.delete(taker);
      // From here on it is the taker's: nobody else may see it as ready.
      entry.state = "running";
      taker(entry);
      return;
    }
    entry.state = "ready";
    entry.ticket = this.#lanes[priority].push(entry, this.#options.groupOf(entry.key));
  }

  #leaveLane(entry: Entry): void {
    if (entry.ticket !== undefined) this.#lanes[entry.priority].remove(entry.ticket);
    entry.ticket = undefined;
  }

  #next(): Entry | undefined {
    const some = priorities.filter((priority) => this.#lanes[priority].size > 0);
    if (some.length === 0) return undefined;
    this.#turns = (this.#turns + 1) % turnsInARow;
    const priority = (this.#turns === 0 ? some.at(-1) : some[0]) ?? "normal";
    const entry = this.#lanes[priority].shift();
    if (entry === undefined) return undefined;
    entry.ticket = undefined;
    entry.state = "running";
    return entry;
  }

  #begin(entry: Entry): Run {
    this.#running += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) throw new Error(`the run of ${entry.key} has ended already`);
      isOver = true;
      this.#running -= 1;
      entry.state = "idle";
    };
    return {
      key: entry.key,
      waitedMs: this.#options.clock.monotonic() - entry.readyAtMs,
      failures: entry.backoff?.attempts ?? 0,
      done: (afterMs) => {
        end();
        entry.backoff = undefined;
        entry.restUntilMs = Number.NEGATIVE_INFINITY;
        if (afterMs !== undefined) this.#due.sooner(entry.key, afterMs);
        this.#release(entry);
      },
      failed: (atLeastMs = 0) => {
        end();
        const { clock, random, backoff, restMs } = this.#options;
        entry.backoff ??= new Backoff({ ...backoff, random });
        // Added to it, not instead: not all who were sent away come back at the same moment.
        const waitMs = entry.backoff.next() + atLeastMs;
        entry.restUntilMs = clock.monotonic() + Math.max(atLeastMs, Math.min(waitMs, restMs));
        this.#due.sooner(entry.key, waitMs);
        this.#release(entry);
        return waitMs;
      },
    };
  }

  /** After a run: once more if it was added meanwhile; forgotten if nothing is left to remember. */
  #release(entry: Entry): void {
    const { again } = entry;
    entry.again = undefined;
    if (again !== undefined) this.add(entry.key, again);
    else if (entry.backoff === undefined && !this.#due.has(entry.key)) {
      this.#entries.delete(entry.key);
    }
  }
}

function higherOf(a: QueuePriority, b: QueuePriority): QueuePriority {
  return priorities.indexOf(a) <= priorities.indexOf(b) ? a : b;
}
