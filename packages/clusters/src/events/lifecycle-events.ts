// The events of cluster lifecycle on their way: numbered, published, followed.

import { TaskScope, type Log, type Random } from "@keelson/base";
import {
  Outbox,
  Relay,
  Tail,
  type Database,
  type NumberedEvent,
  type RelayOptions,
  type Wakeups,
} from "@keelson/database";
import type { LifecycleTransport, TransportHealth } from "./lifecycle-transport.ts";

export interface LifecycleEventsOptions {
  /** Its search path leads to the schema `lifecycle`. */
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly transport: LifecycleTransport;
  readonly random: Random;
  readonly log: Log;
  /** How often to look without being woken. */
  readonly pollMs: number;
  readonly relay?: Partial<Pick<RelayOptions, "leaseMs" | "publishTimeoutMs" | "retryMs">>;
}

export class LifecycleEvents {
  readonly outbox: Outbox;
  readonly tail: Tail<NumberedEvent>;
  readonly #options: LifecycleEventsOptions;

  constructor(options: LifecycleEventsOptions) {
    const { database, wakeups, pollMs, random, log } = options;
    this.#options = options;
    this.outbox = new Outbox({
      database,
      wakeups,
      name: "lifecycle.outbox",
      publishedBy: this.#publishedBy,
      pollMs,
      random,
      log,
    });
    this.tail = new Tail({ source: this.outbox });
  }

  get #publishedBy(): "relay" | "log" {
    return this.#options.transport.publishedBy ?? "relay";
  }

  /** How the transport fares. */
  get health(): TransportHealth {
    return this.#options.transport.health;
  }

  /** Runs until `signal`, on any number of replicas. What hangs in the transport is aborted then. */
  async run(signal: AbortSignal): Promise<void> {
    const { transport, relay: limits = {} } = this.#options;
    const { outbox, tail } = this;
    const isWoken = this.#publishedBy === "relay";
    const relay = new Relay({ outbox, transport, isWoken, ...limits });
    await using scope = new TaskScope(signal);
    scope.spawn("topics", async (signal) => transport.prepare?.(signal));
    scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
    scope.spawn("relay", (signal) => relay.run(signal));
    scope.spawn("tail", (signal) => tail.run(signal));
    scope.spawn("backlog", (signal) => outbox.runMeasuring(signal));
    await scope.join();
  }
}
