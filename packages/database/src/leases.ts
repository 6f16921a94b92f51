// Work that one process at a time may do. A lease says who; its token lets the database refuse the work of one
// who held it before and does not know yet that it was lost.

import {
  isCancellation,
  onAbort,
  silentLog,
  systemRandom,
  type Log,
  type Random,
} from "@keelson/base";
import type { Database, Transaction } from "./database.ts";
import { isTransient } from "./errors.ts";
import { holdLease, releaseLease, renewLease, takeLease } from "./sql/leases.ts";

/** The lease is somebody else's by now: what was done under it must not be recorded. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly code = "LEASE_LOST";
  readonly lease: string;
  readonly token: number;

  constructor(lease: string, token: number) {
    super(`lease ${lease} is no longer held under token ${token}`);
    this.lease = lease;
    this.token = token;
  }
}

/** A lease that is held. */
export interface Lease {
  readonly name: string;
  /** Higher than that of every holder before. */
  readonly token: number;
}

export interface LeaseOptions {
  readonly name: string;
  /** Who asks, for those who look at the table. */
  readonly owner: string;
  /** How long it lasts unless renewed. */
  readonly ttlMs: number;
}

/** Takes the lease, or gives undefined while somebody else holds it. */
export async function acquireLease(
  database: Database,
  options: LeaseOptions,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  const [row] = await database.run(takeLease, options, signal);
  return row && { name: options.name, token: Number(row.token) };
}

/**
 * Throws `LeaseLost` unless the lease is still held under its token; and then it is until `sql` commits. So
 * what this transaction writes is written by the holder.
 */
export async function assertLease(sql: Transaction, { name, token }: Lease): Promise<void> {
  const rows = await sql.run(holdLease, { name, token });
  if (rows.length === 0) throw new LeaseLost(name, token);
}

export interface HoldOptions extends LeaseOptions {
  /** How long to wait before asking again for a lease that somebody else holds. */
  readonly retryMs?: number;
  readonly log?: Log;
  readonly random?: Random;
}

/**
 * Runs `work` whenever the lease is ours, until `signal`; renews it meanwhile and gives it back afterwards.
 *
 * `work` gets a signal that aborts with `LeaseLost` when the lease is taken, or when it could not be renewed
 * until the moment, by our own clock, at which it may be. It is not run twice at once. When it returns, the lease
 * is given back and asked for again later; what it throws, other than its signal's reason, is thrown on.
 */
export async function holdLeaseWhile(
  database: Database,
  { retryMs = 5_000, log = silentLog, random = systemRandom, ...options }: HoldOptions,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = database;
  while (!signal.aborted) {
    try {
      // From before the question: the answer may have been long on its way.
      const askedMs = clock.monotonic();
      const lease = await acquireLease(database, options, signal);
      if (lease !== undefined) {
        log.info({ lease: lease.name, token: lease.token }, "lease taken");
        await workUnder(database, { options, lease, askedMs, work }, signal);
      }
    } catch (error) {
      if (isCancellation(error, signal)) return;
      if (!isTransient(error) && !(error instanceof LeaseLost)) throw error;
      log.warn({ lease: options.name, error }, "lease not held");
    }
    const waitMs = retryMs * (0.5 + random.float() / 2);
    await clock.sleep(waitMs, signal).catch(() => {});
  }
}

interface Holding {
  readonly options: LeaseOptions;
  readonly lease: Lease;
  /** When it was asked for, by our monotonic clock. */
  readonly askedMs: number;
  readonly work: (lease: Lease, signal: AbortSignal) => Promise<void>;
}

async function workUnder(
  database: Database,
  { options, lease, askedMs, work }: Holding,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = database;
  const working = new AbortController();
  const lose = (): void => working.abort(new LeaseLost(lease.name, lease.token));
  const over = new AbortController();
  let expiry = clock.after(askedMs + options.ttlMs - clock.monotonic(), lose);

  const keep = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(options.ttlMs / 3, over.signal);
      const sentMs = clock.monotonic();
      try {
        const rows = await database.run(renewLease, { ...options, ...lease }, over.signal);
        if (rows.length === 0) return lose();
      } catch (error) {
        if (isTransient(error)) continue; // The next one may be in time still.
        throw error;
      }
      expiry[Symbol.dispose]();
      expiry = clock.after(sentMs + options.ttlMs - clock.monotonic(), lose);
    }
  };
  const kept = keep().catch((error: unknown) => {
    if (!isCancellation(error, over.signal)) working.abort(error);
  });

  if (signal.aborted) working.abort(signal.reason);
  using _stop = signal.aborted ? undefined : onAbort(signal, () => working.abort(signal.reason));
  try {
    await work(lease, working.signal);
  } catch (error) {
    if (!isCancellation(error, working.signal)) throw error;
    if (!signal.aborted) throw working.signal.reason;
  } finally {
    over.abort();
    await kept;
    expiry[Symbol.dispose]();
    // Also when we are told to stop: the next holder need not wait for the expiry.
    await database.run(releaseLease, lease, new AbortController().signal).catch(() => {});
  }
}
