// Cluster lifecycle, put together: everything that its routes and loops call.

import type { Clock, Log, Metrics, Random } from "@keelson/base";
import type { Database, Outbox } from "@keelson/database";
import { Access, type AccessOptions } from "./access/access.ts";
import { Denials } from "./access/denials.ts";
import { Registry } from "./controllers/registry.ts";
import { Deletions } from "./deletion/deletions.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { clustersMetrics } from "./metrics.ts";
import { Reports } from "./reports/reports.ts";
import { ResourceReader } from "./resources/read-resources.ts";
import type { SpecDefaults } from "./resources/spec-rules.ts";
import { ResourceWriter } from "./resources/write-resources.ts";
import type { StatusRules } from "./status/aggregate.ts";
import { Statuses } from "./status/statuses.ts";

export interface ClusterLifecycleOptions extends AccessOptions {
  /** Its search path leads to the schema `lifecycle`. */
  readonly database: Database;
  readonly outbox: Outbox;
  /** The time by which statuses age; follows that of the database. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly rules: StatusRules;
  readonly defaults: SpecDefaults;
  readonly wakesDependents: boolean;
  /** 60 unless told. */
  readonly wakesPerMinuteMax?: number;
}

export interface ClusterLifecycle extends Lifecycle {
  readonly reader: ResourceReader;
  readonly writer: ResourceWriter;
  readonly deletions: Deletions;
  readonly reports: Reports;
  readonly registry: Registry;
  readonly denials: Denials;
}

/** Builds it; nothing runs yet. */
export function buildClusterLifecycle(options: ClusterLifecycleOptions): ClusterLifecycle {
  const { database, outbox, clock, random, log, rules, defaults, wakesDependents } = options;
  const metrics = clustersMetrics(options.metrics);
  const statuses = new Statuses({ database, outbox, clock, random, rules, metrics });
  const access = new Access(options);
  const lifecycle: Lifecycle = {
    database,
    outbox,
    statuses,
    access,
    defaults,
    wakesDependents,
    wakesPerMinuteMax: options.wakesPerMinuteMax ?? 60,
    random,
    log,
    metrics,
  };
  const deletions = new Deletions(lifecycle);
  return {
    ...lifecycle,
    reader: new ResourceReader(lifecycle),
    writer: new ResourceWriter(lifecycle),
    deletions,
    reports: new Reports(lifecycle, deletions),
    registry: new Registry(lifecycle, deletions),
    denials: new Denials({ database, clock, log, metrics }),
  };
}
