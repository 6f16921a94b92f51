// Reports that no event tells of wake the pass too, on every replica: one that says nothing new may be the first for a
// while, and where nobody is woken no report has an event.

import type { Clock } from "@keelson/base";
import { runOnWake, type Outbox } from "@keelson/database";
import type { ClusterLifecycle } from "../cluster-lifecycle.ts";

const channel = "lifecycle.reported";

/** Between two notifications: each takes a lock of the whole database at commit. */
const restMs = 100;

/** Nobody rings by a poll: who misses a ring has the next tick. */
const pollMs = 3_600_000;

/** Tells of a report that is committed: the pass of this process at once, the others through `runStatusBell`. */
export function ringForStatuses({ wakeups, numberedChannel }: Outbox): void {
  wakeups.wakeHere(numberedChannel);
  wakeups.wakeHere(channel);
}

/** Notifies the other replicas until `signal`. */
export async function runStatusBell(
  { service, clock }: { readonly service: ClusterLifecycle; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { outbox, random, log } = service;
  const { wakeups, numberedChannel } = outbox;
  using subscription = wakeups.subscribe(channel, { pollMs, deafPollMs: pollMs });
  await runOnWake(
    { name: "status bell", subscription, clock, random, log },
    async (signal) => {
      await wakeups.wakeAll(numberedChannel, signal);
      await clock.sleep(restMs, signal);
    },
    signal,
  );
}
