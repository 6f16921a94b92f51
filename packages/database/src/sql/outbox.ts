// The tables `outbox_unnumbered`, `outbox` and `outbox_keys`, found by the search path.

import type { Json } from "@keelson/base";
import type { LogShape } from "./numbering.ts";
import { statement } from "./statement.ts";

/**
 * The log as `Numbering` sees it. Its step also tells all processes, and makes keys due where a relay is to publish them;
 * where the log itself does, every event counts as published from here on.
 */
export function outboxShape({
  log,
  numberedChannel,
  publishedBy,
}: {
  readonly log: string;
  readonly numberedChannel: string;
  readonly publishedBy: "relay" | "log";
}): LogShape {
  const notify = notifyNumbered(numberedChannel);
  return {
    log,
    source: "outbox_unnumbered",
    target: "outbox",
    position: "position",
    columns: ["event_id", "topic", "ordering_key", "data", "attributes", "created_at"],
    ...(publishedBy === "log"
      ? {
          computed: { published_at: "coalesce(published_at, clock_timestamp())" },
          further: [notify],
        }
      : { computed: { published_at: "published_at" }, further: [markKeysDue, notify] }),
  };
}

/** Keys in their order, here and in `settleKeys`: two that lock the same keys never wait for each other in a circle. */
const markKeysDue = `
  INSERT INTO outbox_keys AS k (ordering_key, last_position, due_at)
  SELECT ordering_key, max(position), clock_timestamp() FROM outbox
  WHERE numbered() AND published_at IS NULL
  GROUP BY ordering_key ORDER BY ordering_key
  ON CONFLICT (ordering_key) DO UPDATE
    SET last_position = excluded.last_position,
        due_at = CASE WHEN k.due_at = 'infinity' THEN excluded.due_at ELSE k.due_at END`;

/** One per step, however many events: a notification takes a lock of the whole database at commit. */
function notifyNumbered(channel: string): string {
  const name = channel.replaceAll("'", "''");
  return `SELECT pg_notify('${name}', '') FROM outbox WHERE numbered() LIMIT 1`;
}

/** One array per column: the text of the statement is the same for any number of events. */
export interface NewEvents {
  readonly eventIds: readonly string[];
  readonly topics: readonly (string | null)[];
  readonly orderingKeys: readonly string[];
  readonly data: readonly string[];
  readonly attributes: readonly string[];
}

export const insertEvents = statement<NewEvents>(
  "insertEvents",
  (sql, { eventIds, topics, orderingKeys, data, attributes }) => sql`
    INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data, attributes, published_at)
    SELECT event_id, topic, ordering_key, data::jsonb, attributes::jsonb,
           CASE WHEN topic IS NULL THEN now() END
    FROM unnest(${eventIds}::uuid[], ${topics}::text[], ${orderingKeys}::text[], ${data}::text[],
                ${attributes}::text[])
      WITH ORDINALITY AS e (event_id, topic, ordering_key, data, attributes, ordinal)
    ORDER BY ordinal`,
);

export interface EventRow {
  readonly position: string;
  readonly event_id: string;
  readonly topic: string | null;
  readonly ordering_key: string;
  readonly data: Json;
  readonly attributes: Readonly<Record<string, string>>;
  readonly created_at: Date;
}

interface ClaimRow {
  readonly ordering_key: string;
  readonly last_position: string;
  readonly attempts: number;
}

/**
 * Claims keys that are due and reads what they have to publish. A claim is a later `due_at`: when nobody settles
 * it, the key is due again. A key whose events somebody else has published meanwhile gives one row without
 * an event. The row of the key says how far it is published: locked, it is newer than the
 * statement's view of `outbox`. So the last position is that of the view: an event that was numbered since is not
 * among those given, and must not count as published with them.
 */
export const claimKeys = statement<
  {
    readonly claim: string;
    readonly leaseMs: number;
    readonly keysMax: number;
    readonly eventsPerKeyMax: number;
  },
  (EventRow | { readonly position: null }) & ClaimRow
>(
  "claimKeys",
  (sql, { claim, leaseMs, keysMax, eventsPerKeyMax }) => sql`
    WITH due AS (
      SELECT ordering_key FROM outbox_keys
      WHERE due_at <= (SELECT clock_timestamp()) -- Once: only then does the index end there.
      ORDER BY due_at LIMIT ${keysMax}
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE outbox_keys k
      SET claim = ${claim}, due_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
      FROM due WHERE k.ordering_key = due.ordering_key
      RETURNING k.ordering_key, k.published_position, k.attempts
    ), relaxed AS MATERIALIZED (
      SELECT set_config('synchronous_commit', 'off', true) -- A claim lost in a crash is a claim expired.
    )
    SELECT c.ordering_key, seen.last_position, c.attempts,
           e.position, e.event_id, e.topic, e.data, e.attributes, e.created_at
    FROM relaxed CROSS JOIN claimed c
    JOIN outbox_keys seen ON seen.ordering_key = c.ordering_key
    LEFT JOIN LATERAL (
      SELECT position, event_id, topic, data, attributes, created_at FROM outbox o
      WHERE o.ordering_key = c.ordering_key AND o.published_at IS NULL
        AND o.position > c.published_position
      ORDER BY position LIMIT ${eventsPerKeyMax}
    ) e ON true
    ORDER BY e.position`,
);

/** One array per column: keys, whose claim it was, and either how far they are published or when to try again. */
export interface Settlements {
  readonly orderingKeys: readonly string[];
  readonly claims: readonly string[];
  readonly publishedPositions: readonly (number | null)[];
  readonly retryMs: readonly (number | null)[];
  readonly errors: readonly (string | null)[];
}

/**
 * Records what became of claims. Events that were published are marked so whoever holds the claim by now; the key
 * is touched only under its claim. `last_position` is read from the locked row: an event numbered meanwhile keeps
 * its key due.
 */
export const settleKeys = statement<Settlements, { settled: number; still_due: number }>(
  "settleKeys",
  (sql, { orderingKeys, claims, publishedPositions, retryMs, errors }) => sql`
    WITH relaxed AS MATERIALIZED (
      SELECT set_config('synchronous_commit', 'off', true) -- Lost in a crash, it is published once more.
    ), settled AS (
      SELECT s.* FROM relaxed, unnest(
        ${orderingKeys}::text[], ${claims}::uuid[], ${publishedPositions}::bigint[],
        ${retryMs}::float8[], ${errors}::text[]
      ) AS s (ordering_key, claim, published_position, retry_ms, error)
    ), held AS (
      SELECT ordering_key FROM outbox_keys WHERE ordering_key = ANY (${orderingKeys}::text[])
      ORDER BY ordering_key FOR UPDATE
    ), marked AS (
      UPDATE outbox o SET published_at = clock_timestamp() FROM settled s
      WHERE o.ordering_key = s.ordering_key AND o.position <= s.published_position
        AND o.published_at IS NULL
      RETURNING 1
    ), released AS (
      UPDATE outbox_keys k
      SET claim = NULL,
          published_position = greatest(k.published_position, s.published_position),
          attempts = CASE WHEN s.retry_ms IS NULL THEN 0 ELSE k.attempts + 1 END,
          last_error = s.error,
          due_at = CASE
            WHEN s.retry_ms IS NOT NULL THEN clock_timestamp() + s.retry_ms * interval '1 ms'
            WHEN k.last_position > s.published_position THEN clock_timestamp()
            ELSE 'infinity'
          END
      FROM held JOIN settled s USING (ordering_key)
      WHERE k.ordering_key = held.ordering_key AND k.claim = s.claim
      RETURNING k.due_at <= clock_timestamp() AS is_due
    )
    SELECT count(*)::integer AS settled, (count(*) FILTER (WHERE is_due))::integer AS still_due
    FROM released`,
);

export const readEvents = statement<{ readonly after: number; readonly limit: number }, EventRow>(
  "readEvents",
  (sql, { after, limit }) => sql`
    SELECT position, event_id, topic, ordering_key, data, attributes, created_at FROM outbox
    WHERE position > ${after} ORDER BY position LIMIT ${limit}`,
);

export const measureBacklog = statement<
  undefined,
  { backlog: number; oldest_seconds: number | null }
>(
  "measureBacklog",
  (sql) => sql`
    SELECT sum(rows)::float8 AS backlog,
           extract(epoch FROM clock_timestamp() - min(oldest))::float8 AS oldest_seconds
    FROM (
      SELECT count(*) AS rows, min(created_at) AS oldest FROM outbox_unnumbered
      WHERE published_at IS NULL
      UNION ALL
      SELECT p.rows, o.created_at FROM (
        SELECT count(*) AS rows, min(position) AS first FROM outbox WHERE published_at IS NULL
      ) p LEFT JOIN outbox o ON o.position = p.first
    ) pending`,
);

/**
 * Removes events published longer ago than the retention, the oldest first; and keys that have been idle as long. It
 * looks no further than to the first event that is younger than that: the log may be long.
 */
export const purgeEvents = statement<
  { readonly log: string; readonly retentionMs: number; readonly limit: number },
  { purged: number }
>(
  "purgeEvents",
  (sql, { log, retentionMs, limit }) => sql`
    WITH kept AS (
      SELECT position FROM outbox
      WHERE created_at >= clock_timestamp() - ${retentionMs} * interval '1 ms'
      ORDER BY position LIMIT 1
    ), old AS (
      SELECT position FROM outbox
      WHERE position < coalesce((SELECT position FROM kept), ${Number.MAX_SAFE_INTEGER}::bigint)
        AND published_at < clock_timestamp() - ${retentionMs} * interval '1 ms'
      ORDER BY position LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ), removed AS (
      DELETE FROM outbox o USING old WHERE o.position = old.position RETURNING o.position
    ), summed AS (
      SELECT count(*)::integer AS purged, max(position) AS last FROM removed
    ), remembered AS (
      UPDATE keelson.numbering SET purged_position = greatest(purged_position, last) FROM summed
      WHERE log = ${log} AND purged > 0
    ), forgotten AS (
      DELETE FROM outbox_keys k WHERE k.due_at = 'infinity' AND k.ordering_key IN (
        SELECT ordering_key FROM outbox_keys
        WHERE due_at = 'infinity' AND last_position <= (
          SELECT purged_position FROM keelson.numbering WHERE log = ${log}
        ) LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
    )
    SELECT purged FROM summed`,
);
