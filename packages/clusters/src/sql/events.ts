// How an event reaches the outbox: in the statement of the change that it tells of.

import type { Identity, JsonObject } from "@keelson/base";
import { writeJson } from "@keelson/base";
import { statement, type Sql, type Statement } from "@keelson/database";
import type { EventReason, EventType } from "../events/event.ts";

/** A part of a statement. */
export type Fragment = ReturnType<Statement<never, object>["build"]>;

/**
 * `INSERT INTO outbox_unnumbered …` for each row of `from`, a query with the columns `event_id, type, cluster_id,
 * nodepool_id, generation, platform, reason, created_by, caller, metadata`, in its order. Types: `event_id` and the two
 * ids are uuid, `caller` and `metadata` jsonb; `nodepool_id`, `caller` (then the owner is named) and `metadata` may be
 * null. Whoever runs it holds the lock of the resource, and wakes the numbering after the commit.
 *
 * `metadata.controller_name` becomes an attribute too; rows whose metadata has `scheduled_by` are no history.
 */
export function insertEvents(sql: Sql, from: Fragment): Fragment {
  return sql`
    INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data, attributes, published_at)
    SELECT e.event_id, topic_of(e.type), coalesce(e.nodepool_id, e.cluster_id)::text, d.data,
           event_attributes(d.data), CASE WHEN topic_of(e.type) IS NULL THEN now() END
    FROM (${from}) e
    CROSS JOIN LATERAL (
      SELECT event_data(e.event_id, e.type, e.cluster_id, e.nodepool_id, e.generation, e.platform, e.reason,
                        e.created_by, e.caller, e.metadata) AS data
      OFFSET 0
    ) d`;
}

/** An event about one resource, as it is then. */
export interface NewEvent {
  readonly eventId: string;
  readonly type: EventType;
  readonly clusterId: string;
  readonly nodepoolId: string | null;
  readonly generation: number;
  readonly platform: string;
  readonly reason: EventReason;
  readonly createdBy: string;
  /** Null where nobody asked: the owner is named. */
  readonly caller: Identity | null;
  readonly metadata?: JsonObject;
}

/** Events in the caller's transaction, in their order. */
export const appendEvents = statement<readonly NewEvent[]>("appendEvents", (sql, events) =>
  insertEvents(
    sql,
    sql`
      SELECT * FROM unnest(
        ${events.map(({ eventId }) => eventId)}::uuid[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ clusterId }) => clusterId)}::uuid[],
        ${events.map(({ nodepoolId }) => nodepoolId)}::uuid[],
        ${events.map(({ generation }) => generation)}::bigint[],
        ${events.map(({ platform }) => platform)}::text[], ${events.map(({ reason }) => reason)}::text[],
        ${events.map(({ createdBy }) => createdBy)}::text[],
        ${events.map(({ caller }) => callerText(caller))}::text[]::jsonb[],
        ${events.map(({ metadata = {} }) => writeJson(metadata))}::text[]::jsonb[]
      ) AS given (event_id, type, cluster_id, nodepool_id, generation, platform, reason, created_by, caller,
                  metadata)`,
  ),
);

/** The caller as events name one: `${callerText(identity)}::text::jsonb` in a statement. */
export function callerText(caller: Identity | null): string | null {
  const named = callerOf(caller);
  return named === null ? null : writeJson(named);
}

/** The same, for whoever writes it as a part of something else. */
export function callerOf(caller: Identity | null): JsonObject | null {
  if (caller === null) return null;
  const { user: email, domain, roles, organizationId } = caller;
  return {
    email,
    domain,
    roles,
    ...(organizationId === undefined ? {} : { organization_id: organizationId }),
  };
}
