// Removes what was kept long enough: published events, history, tombstones.

import { isCancellation, type Clock, type Log } from "@keelson/base";
import { isTransient, type Database, type Outbox } from "@keelson/database";
import { purgeAudit, purgeTombstones } from "../sql/purges.ts";
import type { SchedulerMetrics } from "./metrics.ts";

export interface Retentions {
  /** Of events, from their publication. */
  readonly outboxMs: number;
  readonly auditMs: number;
  readonly tombstonesMs: number;
}

export interface PurgesOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SchedulerMetrics;
  readonly retentions: Retentions;
  readonly everyMs?: number;
}

/** How many rows one statement removes, and how many statements one round has for each sort. */
const batchMax = 1_000;
const batchesMax = 50;

/** Every minute until `signal`, on any number of replicas. What a round leaves, the next one takes. */
export async function runPurges(options: PurgesOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, everyMs = 60_000 } = options;
  while (!signal.aborted) {
    try {
      await purge(options, signal);
    } catch (error) {
      if (isCancellation(error, signal)) return;
      if (!isTransient(error)) throw error;
      log.warn({ error }, "what is out of date could not be removed, trying again");
    }
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}

/** One round. */
export async function purge(
  { database, outbox, retentions, metrics }: Omit<PurgesOptions, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const limit = batchMax;
  const { outboxMs, auditMs: retentionMs, tombstonesMs } = retentions;
  await repeat("events", () => outbox.purge({ retentionMs: outboxMs, limit }, signal));
  await repeat("audit", async () => {
    const [row] = await database.run(purgeAudit, { retentionMs, limit }, signal);
    return row?.purged ?? 0;
  });
  // Nodepools first: a cluster waits for them.
  for (const kind of ["nodepool", "cluster"] as const) {
    await repeat("tombstones", async () => {
      const asked = { kind, retentionMs: tombstonesMs, limit };
      const [row] = await database.run(purgeTombstones, asked, signal);
      return row?.purged ?? 0;
    });
  }

  async function repeat(what: string, step: () => Promise<number>): Promise<void> {
    for (let batch = 0; batch < batchesMax; batch++) {
      const purged = await step();
      metrics.purged.add({ what }, purged);
      if (purged < limit) return;
    }
  }
}
