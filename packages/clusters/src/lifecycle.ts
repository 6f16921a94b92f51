// What every operation stands on.

import { validationFailed, type Log, type Random } from "@keelson/base";
import {
  TransactionConflict,
  ValueRefused,
  type Database,
  type Outbox,
  type Transaction,
} from "@keelson/database";
import type { Access, Caller } from "./access/access.ts";
import type { ClustersMetrics } from "./metrics.ts";
import type { Resource } from "./resources/resource.ts";
import type { SpecDefaults } from "./resources/spec-rules.ts";
import type { Statuses } from "./status/statuses.ts";

export interface Lifecycle {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly statuses: Statuses;
  readonly access: Access;
  readonly defaults: SpecDefaults;
  /** Whether a report that says something new wakes whoever may depend on it. */
  readonly wakesDependents: boolean;
  /** How often it may do so for one resource in any minute; beyond that the last one waits. */
  readonly wakesPerMinuteMax: number;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ClustersMetrics;
}

/** How often a transaction that stood in another's way is tried again. */
const conflictRetriesMax = 3;

/** Runs `work` in a transaction that may write events; after the commit they get their positions. */
export async function writing<T>(
  { database, outbox }: Pick<Lifecycle, "database" | "outbox">,
  work: (sql: Transaction) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      const done = await database.transaction(work, signal);
      outbox.wakeups.wakeHere(outbox.writtenChannel);
      return done;
    } catch (error) {
      if (!(error instanceof TransactionConflict) || retries === conflictRetriesMax) {
        throw toCaller(error);
      }
    }
  }
}

/** A line of the log about a change that is committed: who, what, which request, and the event that tells of it. */
export function logDone(
  { log }: Pick<Lifecycle, "log">,
  { identity, requestId: request_id }: Caller,
  resource: Pick<Resource, "kind" | "id" | "generation"> & { readonly eventId?: string },
  message: string,
): void {
  const { kind, id, generation, eventId: event_id } = resource;
  const event = event_id === undefined ? {} : { event_id };
  log.info({ request_id, user: identity.user, kind, resource: id, generation, ...event }, message);
}

/** A value that no column takes (half of a character, a number beyond all bounds) is the caller's. */
export function toCaller(error: unknown): unknown {
  if (!(error instanceof ValueRefused)) return error;
  return validationFailed({ field: "body", message: "holds a value that cannot be stored" });
}
