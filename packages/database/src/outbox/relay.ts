// Publishes what the outbox holds: at least once, in order per key, outside any transaction.

import { Backoff, isCancellation, onAbort, TaskScope } from "@keelson/base";
import { isTransient } from "../errors.ts";
import { declareMetrics, type DatabaseMetrics } from "../metrics.ts";
import { claimKeys, settleKeys, type EventRow, type Settlements } from "../sql/outbox.ts";
import { runOnWake } from "../wake-loop.ts";
import { toEvent, type NumberedEvent } from "./event.ts";
import type { Outbox } from "./outbox.ts";

/** Where events go: Pub/Sub, or whoever listens in this process. */
export interface Transport {
  /**
   * Publishes events of one ordering key, in their order, and resolves when all are safe there. When it throws,
   * all of them will be sent again. Called for many keys at once, for one key never twice at once by one relay.
   */
  publish(events: readonly NumberedEvent[], signal: AbortSignal): Promise<void>;
}

export interface RelayOptions {
  readonly outbox: Outbox;
  readonly transport: Transport;
  /** How long a claim lasts when its holder dies. */
  readonly leaseMs?: number;
  /** How long the transport may take. Below the lease. */
  readonly publishTimeoutMs?: number;
  /** How many keys are being published at once; the others wait in the database. */
  readonly keysInFlightMax?: number;
  /** How many events of one key are taken at once, so that a long backlog does not crowd out the rest. */
  readonly eventsPerKeyMax?: number;
  /** A key that fails waits this long, doubling, with jitter. */
  readonly retryMs?: { readonly initial: number; readonly max: number };
  /**
   * Whether to look when events have got their positions; else by the poll alone: for an outbox whose log publishes,
   * where there is only what another transport has left.
   */
  readonly isWoken?: boolean;
}

/** What became of a claimed key: published up to a position, or to be tried again. */
interface Settlement {
  readonly orderingKey: string;
  readonly claim: string;
  readonly publishedPosition: number | null;
  readonly retryMs: number | null;
  readonly error: string | null;
}

/**
 * Relays one outbox to one transport.
 *
 * An event is claimed only together with every earlier unpublished event of its key. A key that fails is tried
 * again with backoff, for ever; other keys flow. A relay that dies costs its claims' lease, never an event.
 */
export class Relay {
  readonly #outbox: Outbox;
  readonly #transport: Transport;
  readonly #leaseMs: number;
  readonly #publishTimeoutMs: number;
  readonly #keysInFlightMax: number;
  readonly #eventsPerKeyMax: number;
  readonly #retryMs: { readonly initial: number; readonly max: number };
  readonly #channel: string;
  readonly #metrics: DatabaseMetrics;
  readonly #settlements: Settlement[] = [];
  #inFlight = 0;
  /** A claim may be on its way back to us: until it is here, there is something to settle. */
  #isClaiming = false;
  #onSettlement: () => void = () => {};

  constructor(options: RelayOptions) {
    this.#outbox = options.outbox;
    this.#transport = options.transport;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#publishTimeoutMs = options.publishTimeoutMs ?? 10_000;
    this.#keysInFlightMax = options.keysInFlightMax ?? 512;
    this.#eventsPerKeyMax = options.eventsPerKeyMax ?? 100;
    this.#retryMs = options.retryMs ?? { initial: 1_000, max: 60_000 };
    const { name, numberedChannel } = options.outbox;
    this.#channel = (options.isWoken ?? true) ? numberedChannel : `${name}.relay`;
    this.#metrics = declareMetrics(options.outbox.database.metrics);
    if (this.#publishTimeoutMs >= this.#leaseMs) {
      throw new RangeError("publishTimeoutMs must be below leaseMs");
    }
  }

  /** Relays until `signal`; then aborts what hangs, records what was published and gives its claims back. */
  async run(signal: AbortSignal): Promise<void> {
    const { wakeups, pollMs, database, random, log, name } = this.#outbox;
    using subscription = wakeups.subscribe(this.#channel, { pollMs, deafPollMs: pollMs });
    await using scope = new TaskScope(signal);
    scope.spawn("settle", (signal) => this.#settleUntil(signal));
    await runOnWake(
      { name: `${name} relay`, subscription, clock: database.clock, random, log },
      (signal) => this.#claimAll(scope, signal),
      scope.signal,
    );
    await scope.join();
  }

  async #claimAll(scope: TaskScope, signal: AbortSignal): Promise<void> {
    this.#isClaiming = true;
    try {
      await this.#claimUntilDone(scope, signal);
    } finally {
      this.#isClaiming = false;
      this.#onSettlement();
    }
  }

  /** Claims until nothing is due or every place is taken. */
  async #claimUntilDone(scope: TaskScope, signal: AbortSignal): Promise<void> {
    const { database, random } = this.#outbox;
    for (;;) {
      const free = this.#keysInFlightMax - this.#inFlight;
      if (free === 0) return; // Whoever settles makes room, and wakes us.
      const claim = random.uuid();
      const claimedMs = database.clock.monotonic();
      const rows = await database.run(
        claimKeys,
        { claim, leaseMs: this.#leaseMs, keysMax: free, eventsPerKeyMax: this.#eventsPerKeyMax },
        signal,
      );
      if (rows.length === 0) return;
      const byKey = Map.groupBy(rows, (row) => row.ordering_key);
      for (const [orderingKey, [first, ...others]] of byKey) {
        if (first === undefined) continue;
        const events = [first, ...others].filter((row) => hasEvent(row)).map(toEvent);
        this.#start(scope, {
          orderingKey,
          claim,
          claimedMs,
          attempts: first.attempts,
          lastPosition: Number(first.last_position),
          events,
        });
      }
      if (byKey.size < free) return;
    }
  }

  #start(scope: TaskScope, claimed: Claimed): void {
    const { orderingKey, claim } = claimed;
    this.#inFlight++;
    if (scope.signal.aborted) {
      this.#settle({ orderingKey, claim, publishedPosition: null, retryMs: 0, error: null });
      return;
    }
    scope.spawn("publish", async (signal) => this.#settle(await this.#publish(claimed, signal)));
  }

  async #publish(
    { orderingKey, claim, claimedMs, attempts, lastPosition, events }: Claimed,
    signal: AbortSignal,
  ): Promise<Settlement> {
    const { log, name: outbox } = this.#outbox;
    const { clock } = this.#outbox.database;
    const labels = { outbox };
    const startMs = clock.monotonic();
    // A publish that outlives its claim could overtake the next holder's.
    const latestMs = claimedMs + this.#leaseMs - this.#publishTimeoutMs;
    const nothing = { orderingKey, claim, publishedPosition: null };
    if (startMs >= latestMs) return { ...nothing, retryMs: 0, error: "claimed for too long" };

    const last = events.at(-1);
    if (last === undefined) {
      return { ...nothing, publishedPosition: lastPosition, retryMs: null, error: null };
    }

    const ending = new AbortController();
    const { promise: late, reject } = Promise.withResolvers<never>();
    late.catch(() => {});
    using _timer = clock.after(this.#publishTimeoutMs, () => {
      const reason = new Error(`the transport did not answer within ${this.#publishTimeoutMs} ms`);
      ending.abort(reason);
      reject(reason);
    });
    if (signal.aborted) return { ...nothing, retryMs: 0, error: null };
    using _abort = onAbort(signal, () => {
      ending.abort(signal.reason);
      reject(signal.reason as Error);
    });
    try {
      await Promise.race([this.#transport.publish(events, ending.signal), late]);
      this.#metrics.outboxPublished.add({ ...labels, result: "done" }, events.length);
      const elapsedMs = clock.monotonic() - startMs;
      this.#metrics.outboxPublishSeconds.observe(labels, elapsedMs / 1000);
      const eventIds = events.map(({ eventId }) => eventId);
      log.debug({ ...labels, orderingKey, event_ids: eventIds, elapsedMs }, "events published");
      return {
        ...nothing,
        publishedPosition: last.position,
        retryMs: null,
        error: null,
      };
    } catch (error) {
      if (isCancellation(error, signal)) return { ...nothing, retryMs: 0, error: null };
      this.#metrics.outboxPublished.add({ ...labels, result: "failed" }, events.length);
      const retryMs = this.#retryAfter(attempts);
      const message = error instanceof Error ? error.message : String(error);
      log.warn({ ...labels, orderingKey, attempts, waitMs: retryMs, error }, "event not published");
      return { ...nothing, retryMs, error: message.slice(0, 500) };
    }
  }

  #retryAfter(attempts: number): number {
    const { initial: initialMs, max: maxMs } = this.#retryMs;
    return Backoff.after(attempts + 1, { initialMs, maxMs, random: this.#outbox.random });
  }

  #settle(settlement: Settlement): void {
    this.#settlements.push(settlement); // Bounded by the keys in flight.
    this.#onSettlement();
  }

  /** Records settlements, all that have come together at once, until `signal` and nothing is in flight or being claimed. */
  async #settleUntil(signal: AbortSignal): Promise<void> {
    const { wakeups } = this.#outbox;
    while (!signal.aborted || this.#inFlight > 0 || this.#isClaiming) {
      const batch = this.#settlements.splice(0);
      if (batch.length === 0) {
        await this.#nextSettlement(signal);
        continue;
      }
      const wasFull = this.#inFlight >= this.#keysInFlightMax;
      const stillDue = await this.#record(batch, signal);
      this.#inFlight -= batch.length;
      if (stillDue > 0 || wasFull) wakeups.wakeHere(this.#channel);
    }
  }

  async #nextSettlement(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onSettlement = resolve;
    // Aborted, we still wait for what is in flight.
    using _abort = signal.aborted ? undefined : onAbort(signal, resolve);
    await promise;
  }

  /**
   * Tried again while the database is away, as long as the claims may still be ours; after that whoever claims
   * the keys next publishes these events once more.
   */
  async #record(batch: readonly Settlement[], signal: AbortSignal): Promise<number> {
    const { database, log, name, random } = this.#outbox;
    const untilMs = database.clock.monotonic() + this.#leaseMs;
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000, random });
    const sorted = batch.toSorted((a, b) => (a.orderingKey < b.orderingKey ? -1 : 1));
    for (;;) {
      try {
        // Not our signal: what was published is recorded also when we are told to stop.
        const [row] = await database.run(
          settleKeys,
          toSettlements(sorted),
          new AbortController().signal,
        );
        return row?.still_due ?? 0;
      } catch (error) {
        if (!isTransient(error)) throw error;
        log.warn({ outbox: name, keys: batch.length, error }, "published events not recorded yet");
        const waitMs = backoff.next();
        if (signal.aborted || database.clock.monotonic() + waitMs >= untilMs) return 0;
        await database.clock.sleep(waitMs, signal).catch(() => {});
      }
    }
  }
}

interface Claimed {
  readonly orderingKey: string;
  readonly claim: string;
  readonly claimedMs: number;
  readonly attempts: number;
  readonly lastPosition: number;
  readonly events: readonly NumberedEvent[];
}

function hasEvent(row: object): row is EventRow {
  return "position" in row && row.position !== null;
}

function toSettlements(batch: readonly Settlement[]): Settlements {
  return {
    orderingKeys: batch.map(({ orderingKey }) => orderingKey),
    claims: batch.map(({ claim }) => claim),
    publishedPositions: batch.map(({ publishedPosition }) => publishedPosition),
    retryMs: batch.map(({ retryMs }) => retryMs),
    errors: batch.map(({ error }) => error),
  };
}
