// Who acts in a simulated world: clients that write, read, list and watch, any number at a time.

import type { Random } from "@keelson/base";
import type { Cursor } from "@keelson/store";
import { type ClientOptions, perform } from "../client.ts";
import type { Call } from "../history.ts";
import { openWatch, type RecordedWatch, type WatchRequest } from "../recorded-watch.ts";
import { Workload } from "../workload.ts";
import { turns } from "./weather.ts";
import type { World } from "./world.ts";

const watchesMax = 8;

/** Starts things and leaves them running: the scheduler decides how far they get. */
export class Actors {
  readonly #world: World;
  readonly #random: Random;
  readonly #workload: Workload;
  readonly #aborters = new Set<AbortController>();
  readonly #watches: RecordedWatch[] = [];
  /** Whether slow watches are read like fast ones. */
  #isHurrying = false;
  #running = 0;
  #watchCount = 0;
  #opening = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#workload = new Workload(random, "c");
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  write(count: number): void {
    for (let i = 0; i < count; i++) {
      const id = this.#workload.id();
      const call = this.#workload.nextWrite(id);
      this.#start((client, signal) => this.#perform(client, { id, call }, signal));
    }
  }

  /** One write after the other on one replica, to the end of which nobody else may be woken. */
  lastWords(): void {
    this.#start(async (client, signal) => {
      for (let count = 0; count < 8; count++) {
        const id = this.#workload.id();
        await this.#perform(client, { id, call: this.#workload.nextWrite(id) }, signal);
      }
    });
  }

  get(): void {
    const id = this.#workload.id();
    const call = this.#workload.nextGet();
    this.#start((client, signal) => this.#perform(client, { id, call }, signal));
  }

  /** A list, page by page, with whatever else happens in between. */
  list(): void {
    const random = this.#random;
    const scope = this.#workload.scope();
    const { selector } = this.#workload.selector();
    const limit = random.pick([undefined, 1, 2, 3]);
    const exact = random.float() < 0.2 ? { exact: 1 + random.integer(200) } : {};
    this.#start(async (client, signal) => {
      let after: string | undefined;
      let cursor: Cursor | undefined;
      do {
        const id = this.#workload.id();
        const call: Call = {
          op: "list",
          scope,
          ...(selector === undefined ? {} : { selector }),
          ...(limit === undefined ? {} : { limit }),
          ...(after === undefined ? exact : { after }),
        };
        const request = cursor === undefined ? { id, call } : { id, call, cursor };
        cursor = await this.#perform(client, request, signal);
        after = id;
        await turns(random.integer(6));
      } while (cursor !== undefined);
    });
  }

  /** Cuts the log somewhere at or before a head that was just seen. */
  compact(): void {
    const random = this.#random;
    this.#start(async ({ store }, signal) => {
      try {
        const head = await store.head(signal);
        await store.compact(Math.max(1, head - random.integer(12)), signal);
      } catch (error) {
        if (!isFailure(error) && !signal.aborted) throw error;
      }
    });
  }

  /** Opens one more watch, of any sort. */
  watch(): void {
    const { float, integer, pick } = this.#random;
    if (this.#watches.length + this.#opening >= watchesMax) return;
    const request: Wanted = {
      scope: this.#workload.scope(),
      ...this.#workload.selector(),
      ...(float() < 0.6 ? { bookmarkEveryMs: 20 + integer(200) } : {}),
      initialEventsEnd: true,
      pace: pick(["fast", "slow"]),
    };
    // A little before, at, or a little after the head of that moment.
    this.#open(request, float() < 0.5 ? "state" : { back: integer(12) - 1 });
  }

  /** A slow watcher takes what there is, a few times. */
  readSlow(): void {
    const slow = this.#watches.filter(({ request }) => request.pace === "slow");
    if (slow.length === 0) return;
    const watch = this.#random.pick(slow);
    const reads = 1 + this.#random.integer(4);
    void (async () => {
      for (let read = 0; read < reads; read++) await watch.readOnce();
    })();
  }

  /** Lets a watch go, and resumes it elsewhere from where it stood. */
  closeWatch(): void {
    if (this.#watches.length === 0) return;
    this.#random.pick(this.#watches).close();
  }

  /** Somebody loses patience. */
  abortSomething(): void {
    if (this.#aborters.size === 0) return;
    this.#random.pick([...this.#aborters]).abort(new DOMException("gave up", "AbortError"));
  }

  /** From now on slow watches are read to their end, too. */
  hurry(): void {
    this.#isHurrying = true;
    for (const watch of this.#watches) void watch.readAll();
  }

  areLevel(head: number, pace: "fast" | "slow"): boolean {
    const isLevel = this.#watches
      .filter(({ request }) => request.pace === pace)
      .every(({ position }) => position >= head);
    return isLevel && !this.isBusy;
  }

  /** Takes down that the watches have had every chance. */
  rest(head: number, pace: "fast" | "slow"): void {
    const [client] = this.#world.clients;
    for (const { request, isOver } of this.#watches) {
      if (request.pace === pace && !isOver)
        client?.recorder.record({ type: "quiet", watch: request.id, head });
    }
  }

  closeAll(): void {
    for (const watch of this.#watches.splice(0)) watch.close();
  }

  async #perform(
    client: ClientOptions,
    request: { readonly id: string; readonly call: Call; readonly cursor?: Cursor },
    signal: AbortSignal,
  ): Promise<Cursor | undefined> {
    if (!this.#world.isServing(client)) return undefined; // Nobody calls a store that is closed.
    const { answer, next } = await perform(client, request, signal);
    this.#workload.learn(request.call, answer);
    return next;
  }

  /** Runs something on a replica that is up, with a signal that somebody may abort. */
  #start(run: (client: ClientOptions, signal: AbortSignal) => Promise<unknown>): void {
    const { clients } = this.#world;
    if (clients.length === 0) return;
    const client = this.#random.pick(clients);
    const aborter = new AbortController();
    this.#aborters.add(aborter);
    this.#running += 1;
    void run(client, aborter.signal).finally(() => {
      this.#aborters.delete(aborter);
      this.#running -= 1;
    });
  }

  #open(request: Wanted, start: Start): void {
    this.#watchCount += 1;
    const id = `w${this.#watchCount}`;
    this.#opening += 1;
    this.#start(async (client, signal) => {
      const from = await revisionOf(start, client, signal);
      // The stream outlives the call that opened it; nobody aborts it but by closing.
      const open = new AbortController().signal;
      const canOpen = from !== undefined && this.#world.isServing(client);
      const watch = canOpen ? await openWatch(client, { ...request, id, from }, open) : undefined;
      this.#opening -= 1;
      if (watch !== undefined) {
        this.#watches.push(watch);
        void this.#follow(watch);
      } else if (start !== "state" && "resume" in start) {
        this.#open(request, "state"); // It has expired, or the database was away: begin anew.
      }
    });
  }

  /** Reads a fast watch as it goes; when a watch is over, a new one takes up where it ended. */
  async #follow(watch: RecordedWatch): Promise<void> {
    if (watch.request.pace === "fast" || this.#isHurrying) void watch.readAll();
    await watch.over;
    const index = this.#watches.indexOf(watch);
    if (index < 0) return;
    this.#watches.splice(index, 1);
    if (this.#random.float() < 0.1) return;
    const { id: _id, from: _from, ...request } = watch.request;
    const isFresh = this.#random.float() < 0.2;
    this.#open(request, isFresh ? "state" : { resume: watch.position });
  }
}

type Wanted = Omit<WatchRequest, "id" | "from">;

/** Where a watch begins. */
type Start = "state" | { readonly back: number } | { readonly resume: number };

async function revisionOf(
  start: Start,
  { store }: ClientOptions,
  signal: AbortSignal,
): Promise<number | "state" | undefined> {
  if (start === "state") return start;
  if ("resume" in start) return start.resume;
  try {
    return Math.max(1, (await store.head(signal)) - start.back);
  } catch {
    return undefined; // The database is away: this watch does not come to be.
  }
}

function isFailure(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "Unavailable" || code === "Full" || code === "Expired";
}
