// An outbox, its relay and what they have done, for tests.

import { systemRandom, TaskScope } from "@keelson/base";
import type { Database } from "../database.ts";
import type { NumberedEvent, OutboxEvent } from "../outbox/event.ts";
import { Outbox, type OutboxOptions } from "../outbox/outbox.ts";
import { Relay, type RelayOptions, type Transport } from "../outbox/relay.ts";
import { statement } from "../sql/statement.ts";
import { Wakeups } from "../wakeups.ts";

export const never = new AbortController().signal;
export const name = "lifecycle.outbox";
export const keyRows = statement<
  undefined,
  { ordering_key: string; attempts: number; last_error: string | null }
>(
  "keyRows",
  (sql) => sql`SELECT ordering_key, attempts, last_error FROM outbox_keys ORDER BY ordering_key`,
);
export const pending = statement<undefined, { rows: number }>(
  "pending",
  (sql) => sql`
    SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::integer
         + (SELECT count(*) FROM outbox_unnumbered)::integer AS rows`,
);
export const claimOfKey = statement<
  undefined,
  { claim: string | null; is_due: boolean; published: number }
>(
  "claimOfKey",
  (sql) => sql`
    SELECT claim, due_at <= clock_timestamp() AS is_due,
           (SELECT count(*) FROM outbox WHERE published_at IS NOT NULL)::integer AS published
    FROM outbox_keys`,
);
/** Makes the key that waits after a failure due now, and says until when it was to wait; nothing while it is claimed. */
export const makeKeyDue = statement<
  undefined,
  { attempts: number; due_ms: number; now_ms: number }
>(
  "makeKeyDue",
  (sql) => sql`
    WITH held AS (
      SELECT ordering_key, due_at FROM outbox_keys
      WHERE claim IS NULL AND attempts > 0 AND due_at > clock_timestamp() FOR UPDATE
    )
    UPDATE outbox_keys k SET due_at = clock_timestamp()
    FROM held WHERE k.ordering_key = held.ordering_key
    RETURNING attempts, extract(epoch FROM held.due_at)::float8 * 1000 AS due_ms,
              extract(epoch FROM k.due_at)::float8 * 1000 AS now_ms`,
);
export const ageEvents = statement<undefined>(
  "ageEvents",
  (sql) => sql`
    UPDATE outbox SET created_at = created_at - interval '2 h', published_at = published_at - interval '2 h'`,
);

/** Takes the log back to a position, with all that says how far it was. */
export const forget = statement<{ readonly log: string; readonly after: number }>(
  "forget",
  (sql, { log, after }) => sql`
    WITH lost AS (DELETE FROM outbox WHERE position > ${after})
    UPDATE keelson.numbering SET last_position = ${after} WHERE log = ${log}`,
);

export function event(orderingKey: string, seq: number): OutboxEvent {
  return { eventId: systemRandom.uuid(), topic: "things", orderingKey, data: { seq } };
}

/** One that is for readers of the log only. */
export function logEvent(orderingKey: string, seq: number): OutboxEvent {
  return { ...event(orderingKey, seq), topic: undefined };
}

export const seqOf = ({ data }: NumberedEvent): number => (data as { seq: number }).seq;

export function outboxOn(
  database: Database,
  options: Pick<OutboxOptions, "random" | "log"> = {},
): Outbox {
  return new Outbox({ database, wakeups: new Wakeups({ database }), name, pollMs: 20, ...options });
}

export async function append(outbox: Outbox, ...events: readonly OutboxEvent[]): Promise<void> {
  await outbox.database.transaction((sql) => outbox.append(sql, events), never);
}

/** Remembers what was published, in order; throws for the keys it is told to. */
export class RecordingTransport implements Transport {
  readonly published: NumberedEvent[] = [];
  readonly failing = new Set<string>();

  async publish(events: readonly NumberedEvent[]): Promise<void> {
    if (this.failing.has(events[0]?.orderingKey ?? "")) throw new Error("no such topic");
    this.published.push(...events);
  }

  seqs(orderingKey: string): number[] {
    return this.published.filter((event) => event.orderingKey === orderingKey).map(seqOf);
  }
}

/** Tries again soon; a claim lasts longer than a busy machine takes, so that nothing is published twice for that. */
export const fast = {
  retryMs: { initial: 5, max: 20 },
  leaseMs: 120_000,
  publishTimeoutMs: 60_000,
};

/** Runs numbering and one relay for as long as `work` takes. */
export async function relaying(
  outbox: Outbox,
  transport: Transport,
  work: () => Promise<void>,
  options: Partial<RelayOptions> = {},
): Promise<void> {
  await using scope = new TaskScope(never);
  scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
  const relay = new Relay({ outbox, transport, ...fast, ...options });
  scope.spawn("relay", (signal) => relay.run(signal));
  await work();
}

export async function drained(database: Database): Promise<boolean> {
  const [row] = await database.run(pending, undefined, never);
  return row?.rows === 0;
}
