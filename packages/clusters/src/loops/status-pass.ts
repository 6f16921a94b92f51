// The background pass: statuses that nobody has asked for, so that filters, the scheduler and subscribers hear of them; and
// deletions that a crash left unfinished.

import type { Clock } from "@keelson/base";
import { runOnWake } from "@keelson/database";
import type { ClusterLifecycle } from "../cluster-lifecycle.ts";
import { kinds } from "../kinds.ts";
import { countPhases } from "../sql/statuses.ts";
import { phases } from "../status/status.ts";

/** How many statuses are calculated and cached at a time. */
const batchMax = 500;

/** How long a wake-up waits for others: reports come in crowds. */
const gatherMs = 50;

/** How often all resources are counted: that reads the whole table. */
const countEveryMs = 10_000;

export interface StatusPassOptions {
  readonly service: ClusterLifecycle;
  readonly clock: Clock;
  /** The longest time between two passes. */
  readonly tickMs: number;
}

/** Runs until `signal`. Any number of replicas may: each status is cached by one of them. */
export async function runStatusPass(
  { service, clock, tickMs }: StatusPassOptions,
  signal: AbortSignal,
): Promise<void> {
  const { outbox, random, log } = service;
  // Whatever says something new is an event, here or on another replica.
  using subscription = outbox.wakeups.subscribe(outbox.numberedChannel, {
    pollMs: tickMs,
    deafPollMs: tickMs,
  });
  let nextCountMs = 0;
  await runOnWake(
    { name: "status pass", subscription, clock, random, log },
    async (signal) => {
      await clock.sleep(gatherMs, signal);
      await passOnce(service, signal);
      if (clock.monotonic() < nextCountMs) return;
      nextCountMs = clock.monotonic() + countEveryMs;
      await countResources(service, signal);
    },
    signal,
  );
}

/** Puts the number of resources in each phase into the metrics. */
async function countResources(service: ClusterLifecycle, signal: AbortSignal): Promise<void> {
  const { database, metrics } = service;
  for (const { name: kind } of Object.values(kinds)) {
    const counted = new Map<string, number>(phases.map((phase) => [phase, 0]));
    for (const { phase, resources } of await database.run(countPhases, kind, signal)) {
      if (counted.has(phase)) counted.set(phase, resources);
    }
    for (const [phase, count] of counted) metrics.resources.set({ kind, phase }, count);
  }
}

/** One pass: everything that is stale now. */
export async function passOnce(service: ClusterLifecycle, signal: AbortSignal): Promise<void> {
  const { statuses, deletions } = service;
  for (const { name: kind } of Object.values(kinds)) {
    for (;;) {
      const { found, cached } = await statuses.refreshSome(kind, batchMax, signal);
      // Those that others hold or have changed meanwhile are theirs, or the next pass's.
      if (found < batchMax || cached === 0) break;
    }
  }
  await deletions.finishAll(signal);
}
