// What somebody has to do from time to time, on one replica at a time: compare all generations, tell of what has
// stalled, forget what is past its time, and bring credentials to the newest key.

import { TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import {
  holdLeaseWhile,
  isTransient,
  runOnWake,
  type Database,
  type Wakeups,
} from "@keelson/database";
import type { EventLog } from "../events/event-log.ts";
import { auditSlice, pruneHistory, purgeUntouchedSome, tellStalled } from "../sql/housekeeping.ts";
import { pruneTombstones } from "../sql/tombstones.ts";
import type { CredentialCipher } from "../targets/credential-cipher.ts";
import { resealCredentials } from "../targets/reseal.ts";
import type { WorkBell } from "../work-bell.ts";

export interface HousekeepingOptions {
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly bell: WorkBell;
  readonly events: EventLog;
  readonly cipher: CredentialCipher;
  /** Who does it: a name that no other process has. */
  readonly owner: string;
  readonly limits: HousekeepingLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface HousekeepingLimits {
  /** How often all generations are compared. */
  readonly auditMs: number;
  /** How many generations of a resource are kept, besides the one that was applied. */
  readonly historyMax: number;
  readonly eventRetentionMs: number;
  /** After how long without a step a resource has stalled; it is looked for as often. */
  readonly stalledMs?: number;
  /** How often what is past its time is looked for. */
  readonly pruneMs?: number;
  readonly leaseMs?: number;
}

/** Nobody rings it: whoever waits here is woken when the listener has connected anew, and by the clock. */
const auditChannel = "fleet_audit";

const tombstoneMs = 24 * 3_600_000;
const sliceRows = 2_000;
const batchRows = 1_000;

/** Does it while it holds the lease, until `signal`. */
export async function keepHouse(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const { database, owner, log, random, limits } = options;
  const { leaseMs: ttlMs = 30_000 } = limits;
  await holdLeaseWhile(
    database,
    { name: "fleet.housekeeping", owner, ttlMs, retryMs: ttlMs / 3, log, random },
    async (_lease, within) => {
      await using scope = new TaskScope(within);
      scope.spawn("audit", (inner) => runAudits(options, inner));
      scope.spawn("pruning", (inner) => repeat(options, limits.pruneMs ?? 60_000, prune, inner));
      const everyMs = limits.stalledMs ?? usualStalledMs;
      scope.spawn("keys", (inner) => repeat(options, resealEveryMs, reseal, inner));
      scope.spawn("stalls", (inner) => repeat(options, everyMs, tellOfStalls, inner));
      await scope.join();
    },
    signal,
  );
}

const usualStalledMs = 60_000;

/** A key is new after a start; for a while others may still use an older one. */
const resealEveryMs = 600_000;

/** At the start, every so often, and after what was rung may have gone unheard. */
async function runAudits(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const { wakeups, clock, random, log, limits } = options;
  const { auditMs: pollMs } = limits;
  using subscription = wakeups.subscribe(auditChannel, { pollMs, deafPollMs: pollMs });
  await runOnWake(
    { name: "audit", subscription, clock, random, log },
    async (within) => {
      await audit(options, within);
    },
    signal,
  );
}

/** Compares all generations, slice by slice, and makes due whatever nobody was told of. */
export async function audit(
  { database, bell, log }: Pick<HousekeepingOptions, "database" | "bell"> & { readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  for (let after: number | null = 0; after !== null;) {
    const slice: { last: number | null; found: number } | undefined = (
      await database.run(auditSlice, { after, limit: sliceRows }, signal)
    )[0];
    after = slice?.last ?? null;
    all += slice?.found ?? 0;
  }
  const [purge] = await database.run(purgeUntouchedSome, batchRows, signal);
  if (all > 0) {
    log.warn({ resources: all }, "an audit has found work that nobody was told of");
    bell.ring();
  }
  if ((purge?.purged ?? 0) > 0) bell.told();
  return all;
}

async function prune(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const { database, events, limits } = options;
  const { historyMax: keep, eventRetentionMs: retentionMs } = limits;
  const limit = batchRows;
  await whileFull(limit, () => events.prune({ retentionMs, limit }, signal));
  await whileFull(limit, async () => {
    const [row] = await database.run(pruneHistory, { keep, limit }, signal);
    return row?.pruned ?? 0;
  });
  await whileFull(limit, async () => {
    const [row] = await database.run(pruneTombstones, { retentionMs: tombstoneMs, limit }, signal);
    return row?.pruned ?? 0;
  });
}

async function tellOfStalls(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const { database, bell, log, limits } = options;
  const { stalledMs: afterMs = usualStalledMs } = limits;
  let all = 0;
  for (let after: number | null = 0; after !== null;) {
    const slice: { last: number | null; told: number } | undefined = (
      await database.run(tellStalled, { after, limit: sliceRows, afterMs }, signal)
    )[0];
    after = slice?.last ?? null;
    all += slice?.told ?? 0;
  }
  if (all === 0) return;
  log.warn({ resources: all }, "nothing moves for resources");
  bell.told();
}

async function reseal(options: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  const { resealed, unreadable } = await resealCredentials(options, signal);
  if (resealed > 0) options.bell.ring();
  if (unreadable.length === 0) return;
  const message = "credentials are under keys that are not given: register their targets anew";
  options.log.warn({ cluster_ids: unreadable.slice(0, 100), targets: unreadable.length }, message);
}

async function whileFull(limit: number, step: () => Promise<number>): Promise<void> {
  while ((await step()) >= limit);
}

/** Every so often. While the database is away there is nothing to do. */
async function repeat(
  options: HousekeepingOptions,
  everyMs: number,
  step: (options: HousekeepingOptions, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await step(options, signal);
    } catch (error) {
      if (!isTransient(error)) throw error;
      options.log.warn({ error }, "housekeeping failed, trying again later");
    }
    await options.clock.sleep(everyMs, signal);
  }
}
