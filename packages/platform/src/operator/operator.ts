// The operator as a process runs it: alone, or as one of several of which the leader works and the others wait.

import type { Clock, Log, Metrics, Random } from "@keelson/base";
import { controllerMetrics, runElected, type ElectionTimes } from "@keelson/controller";

import { OperatorMetrics } from "./metrics.ts";
import { runTerm, type TermOptions } from "./term.ts";

export interface OperatorOptions extends Pick<
  TermOptions,
  "settings" | "openClient" | "identity" | "onCall"
> {
  /** Whether there may be others: then one of them leads. */
  readonly elects: boolean;
  readonly electionTimes?: Partial<ElectionTimes>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Others see the Lease expire after 15 s; we stop 5 s before that. */
export const operatorElectionTimes: ElectionTimes = {
  durationMs: 15_000,
  renewDeadlineMs: 10_000,
  renewMs: 5_000,
  lookMs: 1_000,
};

const leaseName = "plattr-operator-leader";

export class Operator {
  readonly #options: OperatorOptions;
  readonly #metrics: OperatorMetrics;
  #state: "starting" | "standby" | "syncing" | "working" = "starting";

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#metrics = new OperatorMetrics(options.metrics);
  }

  /** Whether it does what it should: it works on what it has seen, or stands by. */
  get isReady(): boolean {
    return this.#state === "working" || this.#state === "standby";
  }

  get isLeader(): boolean {
    return this.#state === "working" || this.#state === "syncing";
  }

  /** Until `signal` aborts: then nothing new is begun, what is under way ends within 10 s, and the Lease is given back. */
  async run(signal: AbortSignal): Promise<void> {
    const { elects, clock, random, log, metrics, identity, settings } = this.#options;
    if (!elects) return await this.#work(undefined, signal);
    await using client = this.#options.openClient({});
    this.#state = "standby";
    await runElected(
      {
        client,
        lease: { namespace: settings.namespace, name: leaseName },
        identity,
        times: { ...operatorElectionTimes, ...this.#options.electionTimes },
        clock,
        random,
        log,
        metrics: controllerMetrics(metrics),
      },
      async (leadership, within) => await this.#work(leadership, within),
      signal,
    );
  }

  async #work(...[leadership, signal]: WorkArguments): Promise<void> {
    this.#state = "syncing";
    this.#metrics.setLeader(true);
    try {
      await runTerm(
        {
          ...this.#options,
          operatorMetrics: this.#metrics,
          onSynced: () => {
            if (this.#state === "syncing") this.#state = "working";
          },
        },
        leadership,
        signal,
      );
    } finally {
      this.#state = "standby";
      this.#metrics.setLeader(false);
    }
  }
}

type WorkArguments = [leadership: Parameters<typeof runTerm>[1], signal: AbortSignal];
