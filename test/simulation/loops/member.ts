// One candidate of an election, by a clock that a test moves.

import { noMetrics, seededRandom, silentLog } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import {
  controllerMetrics,
  runElected,
  type ElectionTimes,
  type Lease,
  type Leadership,
} from "@keelson/controller";

import { LeaseServer, LeaseWire, ProcessClock } from "./lease-server.ts";

/** Where candidates meet. */
export interface Place {
  readonly clock: ManualClock;
  readonly server: LeaseServer;
}

/** Works from the beginning of its term until it is told to stop or loses, and after a stop until it is ended. */
export class Member {
  readonly clock: ManualClock;
  readonly server: LeaseServer;
  readonly wire: LeaseWire;
  readonly terms: Leadership[] = [];
  readonly #stop = new AbortController();
  readonly #workEnds = Promise.withResolvers<void>();
  readonly #running: Promise<void>;

  constructor(times: ElectionTimes, identity = "only", place?: Place) {
    const { clock: time, server } = place ?? {
      clock: new ManualClock(),
      server: new LeaseServer(),
    };
    this.clock = time;
    this.server = server;
    const clock = new ProcessClock(time);
    const random = seededRandom(identity);
    this.wire = new LeaseWire(this.server, clock, random);
    this.#running = runElected(
      {
        client: this.wire,
        lease: { namespace: "default", name: "lease" },
        identity,
        times,
        clock,
        random,
        log: silentLog,
        metrics: controllerMetrics(noMetrics),
      },
      async (leadership, signal) => {
        this.terms.push(leadership);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        if (this.#stop.signal.aborted) await this.#workEnds.promise;
      },
      this.#stop.signal,
    );
    this.#running.catch(() => undefined); // Whoever ends it hears of it.
  }

  /** Its first term. */
  async leads(): Promise<Leadership> {
    for (let passedMs = 0; passedMs < 600_000; passedMs += 50) {
      if (this.terms[0] !== undefined) return this.terms[0];
      await this.clock.advance(50);
    }
    throw new Error("it has not led for ten minutes");
  }

  get holder(): string | undefined {
    return (this.server.get("lease") as Lease).spec?.holderIdentity;
  }

  /** Tells it to stop; its work goes on. */
  tellToStop(): void {
    this.#stop.abort(new Error("told to stop"));
  }

  /** Tells it to stop, having nothing to end. */
  letGo(): void {
    this.#workEnds.resolve();
    this.tellToStop();
  }

  async end(): Promise<void> {
    this.letGo();
    const ending = this.#running;
    await this.clock.advance(20_000);
    await ending;
  }
}
