// Leader election by a Lease: at most one process leads, and whoever leads has a token higher than all before.

import { isCancellation, onAbort, type Clock, type Log, type Random } from "@keelson/base";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  type ObjectKind,
  type ObjectRef,
  type ResourceClient,
} from "@keelson/client";
import { microTimeFromMs } from "@keelson/kube";

import type { ControllerMetrics } from "../metrics.ts";
import {
  leaseKind,
  look,
  mayTake,
  released,
  renewed,
  taken,
  type Lease,
  type Sighting,
} from "./lease.ts";
import { Leadership, LeadershipLost } from "./leadership.ts";
import { watchLease } from "./standby.ts";

export interface ElectionTimes {
  /** For how long a holder is believed after it was last heard of. */
  readonly durationMs: number;
  /** A leader that could not renew for so long stops leading. Well below `durationMs`: its work must end first. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews. */
  readonly renewMs: number;
  /** How long after a renewal that failed another is tried, and how often others look who cannot watch the Lease. */
  readonly lookMs: number;
}

export const usualElectionTimes: ElectionTimes = {
  durationMs: 15_000,
  renewDeadlineMs: 10_000,
  renewMs: 2_000,
  lookMs: 1_000,
};

/** What an election needs of a client. */
export interface LeaseClient {
  resource<T extends KubeObject>(
    kind: ObjectKind,
    signal: AbortSignal,
  ): Promise<Pick<ResourceClient<T>, "find" | "create" | "update" | "watch">>;
}

export interface ElectionOptions {
  readonly client: LeaseClient;
  /** Which Lease. It is made if it is not there. */
  readonly lease: ObjectRef & { readonly namespace: string };
  /** Unlike that of any other process, also of this one's earlier lives. */
  readonly identity: string;
  readonly times?: Partial<ElectionTimes>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
}

/**
 * Runs `lead` whenever this process leads, until `signal` aborts.
 *
 * - The signal of `lead` aborts when leadership is lost or `signal` aborts; it must end soon after. No other run
 *   begins before it has, and the Lease is given back only then, so that the next leader finds nobody at work.
 * - A process that is stopped for longer than its lease still believes for a moment that it leads. What must never
 *   be done by two is written with the token of its leadership: see `Leadership`.
 * - A failure of `lead` gives the Lease back and rejects. `lead` that just returns gives it back and stands again.
 */
export async function runElected(
  options: ElectionOptions,
  lead: (leadership: Leadership, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await new Elector(options).run(lead, signal);
}

interface Held {
  lease: Lease;
  /** When the last renewal that succeeded was sent: it counts from then, not from its answer. */
  renewedAtMs: number;
}

class Elector {
  readonly #options: ElectionOptions;
  readonly #times: ElectionTimes;
  #sighting: Sighting | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#times = { ...usualElectionTimes, ...options.times };
    const { durationMs, renewDeadlineMs, renewMs, lookMs } = this.#times;
    if (!(renewMs < renewDeadlineMs && renewDeadlineMs < durationMs)) {
      throw new RangeError("renewMs < renewDeadlineMs < durationMs must hold");
    }
    if (!(renewMs + lookMs < renewDeadlineMs)) {
      throw new RangeError("renewMs + lookMs < renewDeadlineMs must hold, for a second try");
    }
  }

  async run(
    lead: (leadership: Leadership, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, metrics, lease } = this.#options;
    const gauge = metrics.leader.with({ lease: lease.name });
    gauge.set(0);
    while (!signal.aborted) {
      const held = await this.#tryTake(signal);
      if (held === undefined) {
        await this.#standBy(signal);
        continue;
      }
      if (signal.aborted) {
        await this.#release(held);
        return;
      }
      gauge.set(1);
      try {
        await this.#lead(held, lead, signal);
      } finally {
        gauge.set(0);
        log.info({ lease: lease.name }, "leadership ended");
      }
    }
  }

  /** Until it is worth looking at the Lease again: it seems to be free, or a while has passed. */
  async #standBy(signal: AbortSignal): Promise<void> {
    const { client, clock, random, identity } = this.#options;
    const { renewDeadlineMs, lookMs } = this.#times;
    const seen = this.#sighting;
    if (seen !== undefined && !mayTake(seen, identity, clock.monotonic())) {
      const leases = await client.resource<Lease>(leaseKind, signal).catch(() => undefined);
      if (leases !== undefined) {
        const limits = { quietMs: renewDeadlineMs, openTimeoutMs: renewDeadlineMs / 2 };
        const watched = await watchLease({ leases, identity, clock, ...limits }, seen, signal);
        this.#sighting = watched.sighting;
        if (watched.isWorthALook) return;
      }
    }
    // Not all at once.
    await clock.sleep(lookMs * (0.5 + random.float() / 2), signal).catch(() => undefined);
  }

  /** The Lease with us as its holder, if it could be had. */
  async #tryTake(signal: AbortSignal): Promise<Held | undefined> {
    const { client, clock, identity, log, lease: ref } = this.#options;
    try {
      const leases = await client.resource<Lease>(leaseKind, signal);
      const found = await leases.find({ ...ref, ...call(this.#times) }, signal);
      const nowMs = clock.monotonic();
      this.#sighting = found === undefined ? undefined : look(this.#sighting, found, nowMs);
      if (this.#sighting !== undefined && !mayTake(this.#sighting, identity, nowMs)) {
        return undefined;
      }
      const blank: Lease = { ...leaseKind, metadata: ref };
      const wanted = taken(found ?? blank, this.#parts());
      const renewedAtMs = clock.monotonic();
      signal.throwIfAborted();
      // With its version: of all who try at once one succeeds. Not to be cancelled: we must know whether it is us.
      const lease =
        found === undefined
          ? await leases.create(wanted, call(this.#times), toTheEnd)
          : await leases.update(wanted, call(this.#times), toTheEnd);
      return { lease, renewedAtMs };
    } catch (error) {
      if (signal.aborted || isConflict(error) || isAlreadyExists(error)) return undefined;
      log.warn({ lease: ref.name, error }, "the lease cannot be had");
      return undefined;
    }
  }

  async #lead(
    held: Held,
    lead: (leadership: Leadership, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log, lease } = this.#options;
    const { renewDeadlineMs } = this.#times;
    const stop = new AbortController();
    using _listener = onAbort(signal, () => stop.abort(signal.reason));
    // Apart from `stop`: whoever was told to stop still holds the Lease, and can still lose it.
    const loss = new AbortController();
    const lose = (): void => {
      const lost = new LeadershipLost(lease.name);
      loss.abort(lost);
      stop.abort(lost);
    };
    const leadership = new Leadership({
      lease: lease.name,
      // The version of the write that won: every later one is higher, even if the Lease is deleted meanwhile.
      token: BigInt(held.lease.metadata.resourceVersion ?? "0"),
      isHeld: () => !loss.signal.aborted && clock.monotonic() - held.renewedAtMs < renewDeadlineMs,
      lost: loss.signal,
    });
    log.info({ lease: lease.name, token: String(leadership.token) }, "leadership won");
    const working = new AbortController();
    const renewing = this.#keepRenewed(held, lose, working.signal);
    try {
      await lead(leadership, stop.signal);
    } catch (error) {
      if (!isCancellation(error, stop.signal)) throw error;
    } finally {
      working.abort(new Error("the work of the leader has ended"));
      await renewing;
      await this.#release(held);
    }
  }

  /** Renews while the work goes on, also after it was told to end. Calls `lose` when leadership is lost. */
  async #keepRenewed(held: Held, lose: () => void, working: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { renewMs, renewDeadlineMs, lookMs } = this.#times;
    const leftMs = (): number => held.renewedAtMs + renewDeadlineMs - clock.monotonic();
    // Apart from the renewals, one of which may be stuck.
    let timer: Disposable | undefined;
    const guard = (): void => {
      timer = clock.after(Math.max(1, leftMs()), () => (leftMs() > 0 ? guard() : lose()));
    };
    guard();
    // From when they were sent: what an answer takes is not to be had a second time.
    let dueMs = held.renewedAtMs + renewMs;
    let wasOvertaken = false;
    try {
      while (leftMs() > 0) {
        await clock.sleep(dueMs - clock.monotonic(), working).catch(() => undefined);
        if (working.aborted) return;
        const sentAtMs = clock.monotonic();
        const outcome = await this.#renew(held);
        if (outcome === "lost") return lose();
        if (outcome === "renewed") held.renewedAtMs = sentAtMs;
        // A version that we did not know of is renewed at once; whoever writes it without end is not raced.
        const isAtOnce = outcome === "overtaken" && !wasOvertaken;
        dueMs = isAtOnce ? sentAtMs : sentAtMs + (outcome === "renewed" ? renewMs : lookMs);
        wasOvertaken = outcome === "overtaken";
      }
      if (!working.aborted) lose();
    } finally {
      timer?.[Symbol.dispose]();
    }
  }

  /** `overtaken`: it is still ours, in a version that we know only now. */
  async #renew(held: Held): Promise<"renewed" | "failed" | "overtaken" | "lost"> {
    const { client, log, lease: ref } = this.#options;
    const { renewDeadlineMs, renewMs } = this.#times;
    // One that is not answered leaves as much time for another.
    const timeoutMs = (renewDeadlineMs - renewMs) / 2;
    try {
      // Not to be cancelled: only a version that we know of can be given back.
      const leases = await client.resource<Lease>(leaseKind, toTheEnd);
      const wanted = renewed(held.lease, this.#parts());
      held.lease = await leases.update(wanted, { ...call(this.#times), timeoutMs }, toTheEnd);
      return "renewed";
    } catch (error) {
      // It is somebody else's, or was an earlier renewal of ours whose answer was lost.
      if (isConflict(error) || isNotFound(error)) return await this.#whoseNow(held);
      log.warn({ lease: ref.name, error }, "the lease cannot be renewed");
      return "failed";
    }
  }

  /** Whether the Lease names us, in an acquisition that is this one; then its present version is ours to renew. */
  async #whoseNow(held: Held): Promise<"overtaken" | "failed" | "lost"> {
    const { client, identity, lease: ref } = this.#options;
    const { renewDeadlineMs, renewMs } = this.#times;
    const timeoutMs = (renewDeadlineMs - renewMs) / 2;
    try {
      const leases = await client.resource<Lease>(leaseKind, toTheEnd);
      const asked = { ...ref, ...call(this.#times), timeoutMs };
      const found = await leases.find(asked, toTheEnd);
      const isOurs =
        found?.spec?.holderIdentity === identity &&
        found.metadata.uid === held.lease.metadata.uid &&
        found.spec.leaseTransitions === held.lease.spec?.leaseTransitions;
      if (!isOurs) return "lost";
      held.lease = found;
      return "overtaken";
    } catch {
      return "failed"; // Nobody can say. The deadline will, if it stays so.
    }
  }

  /** Gives the Lease back, if it is still ours. Failing costs others its duration, nothing else. */
  async #release(held: Held): Promise<void> {
    const { client, clock, log, lease: ref } = this.#options;
    const leftMs = held.renewedAtMs + this.#times.durationMs - clock.monotonic();
    if (leftMs <= 0) return;
    const signal = clock.timeout(Math.min(leftMs, releaseMsMax));
    try {
      const leases = await client.resource<Lease>(leaseKind, signal);
      const give = async (): Promise<unknown> =>
        await leases.update(released(held.lease, this.#parts()), call(this.#times), signal);
      await give().catch(async (error: unknown) => {
        if (!isConflict(error)) throw error;
        // Perhaps a renewal of ours whose answer was lost.
        if ((await this.#whoseNow(held)) === "overtaken") await give();
      });
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return;
      log.warn({ lease: ref.name, error }, "the lease could not be given back");
    }
  }

  #parts() {
    const { clock, identity } = this.#options;
    const { durationMs } = this.#times;
    return { identity, durationMs, time: microTimeFromMs(clock.now()) };
  }
}

const releaseMsMax = 2_000;

/** For requests that have a deadline and must not be given up before it. */
const toTheEnd = new AbortController().signal;

/** Ahead of everything else we send. */
function call({ renewDeadlineMs }: ElectionTimes) {
  return { priority: "system", timeoutMs: renewDeadlineMs / 2 } as const;
}
