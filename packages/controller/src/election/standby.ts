// What those do who do not lead: they watch the Lease, and judge by their own clock for how long it has not changed.

import { onAbort, type Clock } from "@keelson/base";
import type { ResourceClient } from "@keelson/client";

import { look, mayTake, type Lease, type Sighting } from "./lease.ts";

export interface StandbyOptions {
  readonly leases: Pick<ResourceClient<Lease>, "watch">;
  readonly identity: string;
  /** A watch of which nothing is heard for so long is not believed any more: a leader renews more often. */
  readonly quietMs: number;
  readonly openTimeoutMs: number;
  readonly clock: Clock;
}

export interface Watched {
  /** What was last seen of the Lease; undefined if it is gone. */
  readonly sighting: Sighting | undefined;
  /** Whether to look at once: it may be had, or so it seems. */
  readonly isWorthALook: boolean;
}

/**
 * Watches the Lease from the state that was seen, until it may be taken, nothing was heard of it for too long, or the
 * watch ends. It takes nothing: whoever does looks first, and writes with the version that it saw, so that a watch that
 * is late, or stalls, costs time alone. Never rejects.
 */
export async function watchLease(
  { leases, identity, quietMs, openTimeoutMs, clock }: StandbyOptions,
  seen: Sighting,
  signal: AbortSignal,
): Promise<Watched> {
  let sighting = seen;
  const { name = "", namespace = "", resourceVersion = "" } = seen.lease.metadata;
  const stop = new AbortController();
  using _stopped = onAbort(signal, () => stop.abort(signal.reason));
  let isTimeUp = false;
  let timer: Disposable | undefined;
  const wait = (): void => {
    timer?.[Symbol.dispose]();
    const waitMs = Math.min(quietMs, expiryOf(sighting) - clock.monotonic());
    timer = clock.after(waitMs, () => {
      isTimeUp = true;
      stop.abort(new Error("it is time to look"));
    });
  };
  wait();
  try {
    const events = await leases.watch(
      {
        namespace,
        fieldSelector: `metadata.name=${name}`,
        resourceVersion,
        timeoutSeconds,
        openTimeoutMs,
        priority: "system",
      },
      stop.signal,
    );
    for await (const event of events) {
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") return { sighting: undefined, isWorthALook: true };
      const nowMs = clock.monotonic();
      sighting = look(sighting, event.object, nowMs);
      if (mayTake(sighting, identity, nowMs)) return { sighting, isWorthALook: true };
      wait();
    }
  } catch {
    // It cannot be watched now, or it is time: the next look tells what is wrong, if anything is.
  } finally {
    timer?.[Symbol.dispose]();
    stop.abort(new Error("the watch is over"));
  }
  return { sighting, isWorthALook: isTimeUp };
}

/** When a state that does not change allows to take the Lease. */
function expiryOf({ lease, sinceMs }: Sighting): number {
  return sinceMs + (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
}

/** Then the server ends it, and it is begun anew. */
const timeoutSeconds = 600;
