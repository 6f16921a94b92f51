// A scheduler on a real database, clusters as it finds them, and what it has announced.

import assert from "node:assert/strict";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { Scheduler, schedulerMetrics, type SchedulerOptions } from "@keelson/clusters";
import type { ClustersDatabase } from "@keelson/clusters/testing";
import { Outbox, Wakeups, type Database } from "@keelson/database";

export const minute = 60_000;
export const hour = 60 * minute;

export const cadence = {
  unhealthyMs: 30_000,
  healthyMs: 5 * minute,
  newMs: 2 * hour,
  decayAfter: 10,
};

/** Time that a test moves on, and nobody else; it begins where the database is, whose times have parts of milliseconds. */
export class TestTime {
  #nowMs = Math.floor(systemClock.now()) + 1;
  now(): number {
    return this.#nowMs;
  }
  pass(ms: number): void {
    this.#nowMs += ms;
  }
}

export function schedulerOn(
  database: Database,
  options: Partial<SchedulerOptions> = {},
): Scheduler {
  const wakeups = new Wakeups({ database });
  return new Scheduler({
    database,
    outbox: new Outbox({ database, wakeups, name: "lifecycle.outbox" }),
    clock: systemClock,
    time: systemClock,
    random: systemRandom,
    log: silentLog,
    metrics: schedulerMetrics(new RecordingMetrics()),
    cadence,
    tickMs: 30_000,
    refreshStatuses: async () => undefined,
    ...options,
  });
}

export interface Cluster {
  readonly name?: string;
  readonly phase?: string;
  /** How long ago it was made. */
  readonly ageMs?: number;
  /** When it was announced last; null is never. */
  readonly reconciledMs?: number | null;
}

/** A cluster whose status was calculated for its generation. */
export async function insertCluster(
  tables: ClustersDatabase,
  { name = systemRandom.uuid(), phase = "Pending", ageMs = 0, reconciledMs = null }: Cluster = {},
): Promise<string> {
  const [row] = await tables.query<{ id: string }>(
    `INSERT INTO clusters (name, created_by, spec, status, status_dirty, created_at)
     VALUES ($1, 'alice@example.com', '{"platform": {"type": "gcp"}}',
             jsonb_build_object('phase', $2::text, 'observedGeneration', 1), false,
             now() - $3::float8 * interval '1 ms') RETURNING id`,
    [name, phase, ageMs],
  );
  assert.ok(row !== undefined);
  if (reconciledMs !== null) {
    await tables.query(
      `UPDATE reconciliation_schedule SET last_reconciled_at = now() - $2::float8 * interval '1 ms'
       WHERE cluster_id = $1`,
      [row.id, reconciledMs],
    );
  }
  return row.id;
}

/** What a controller has said, and the pass has seen. */
export async function report(
  tables: ClustersDatabase,
  id: string,
  { name = "dns", generation = 1, available = "True" } = {},
): Promise<void> {
  await tables.query(
    `INSERT INTO controller_status (cluster_id, controller_name, observed_generation, conditions)
     VALUES ($1, $2, $3, jsonb_build_array(jsonb_build_object('type', 'Available', 'status', $4::text)))
     ON CONFLICT (cluster_id, controller_name) DO UPDATE
     SET observed_generation = excluded.observed_generation, conditions = excluded.conditions`,
    [id, name, generation, available],
  );
  await tables.query(`UPDATE clusters SET status_dirty = false`);
}

export interface Announcement {
  readonly ordering_key: string;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export async function announcements(tables: ClustersDatabase): Promise<readonly Announcement[]> {
  return tables.query<Announcement>(
    `SELECT ordering_key, data ->> 'reason' AS reason, data -> 'metadata' AS metadata
     FROM outbox_unnumbered ORDER BY id`,
  );
}

export async function waitOf(tables: ClustersDatabase, id: string, nowMs: number): Promise<number> {
  const [row] = await tables.query<{ ms: number }>(
    `SELECT (extract(epoch FROM next_reconcile_at) * 1000)::float8 AS ms
     FROM reconciliation_schedule WHERE cluster_id = $1`,
    [id],
  );
  return Math.round(((row?.ms ?? NaN) - nowMs) / 1_000);
}
