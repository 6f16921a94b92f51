import { writeJson, type Json } from "@keelson/base";
import type { EventRow, NewEvents } from "../sql/outbox.ts";

/** An event to be committed with the change it tells of. */
export interface OutboxEvent {
  /** The same whenever it is delivered: by it a receiver knows a repetition. */
  readonly eventId: string;
  /** Where it is published; undefined: nowhere, it is for readers of the log. */
  readonly topic?: string | undefined;
  /** Events with the same key are published in the order of their positions. */
  readonly orderingKey: string;
  readonly data: Json;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** An event with its place in the log. */
export interface NumberedEvent extends Required<OutboxEvent> {
  readonly position: number;
  readonly createdAt: Date;
}

export function toEvent(row: EventRow): NumberedEvent {
  return {
    position: Number(row.position),
    eventId: row.event_id,
    topic: row.topic ?? undefined,
    orderingKey: row.ordering_key,
    data: row.data,
    attributes: row.attributes,
    createdAt: row.created_at,
  };
}

export function toColumns(events: readonly OutboxEvent[]): NewEvents {
  return {
    eventIds: events.map(({ eventId }) => eventId),
    topics: events.map(({ topic }) => topic ?? null),
    orderingKeys: events.map(({ orderingKey }) => orderingKey),
    data: events.map(({ data }) => writeJson(data)),
    attributes: events.map(({ attributes = {} }) => writeJson(attributes)),
  };
}
