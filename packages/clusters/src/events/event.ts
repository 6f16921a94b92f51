// The words of events.

/** Who publishes them, whatever the executable is called. */
export const eventSource = "cls-backend";

export const topics = ["cluster-events", "nodepool-events"] as const;
export type Topic = (typeof topics)[number];

/** Those of a topic, and three that only the stream and the audit have. */
export type EventType =
  | `${"cluster" | "nodepool"}.${"created" | "updated" | "deleted" | "reconcile" | "finalized"}`
  | "status.changed";

/** What is published on each topic. */
export const topicTypes: Readonly<Record<Topic, readonly EventType[]>> = {
  "cluster-events": ["cluster.created", "cluster.updated", "cluster.deleted", "cluster.reconcile"],
  "nodepool-events": [
    "nodepool.created",
    "nodepool.updated",
    "nodepool.deleted",
    "nodepool.reconcile",
  ],
};

/** Why there is an event. */
export type EventReason =
  | "cluster_created"
  | "nodepool_created"
  | "spec_change"
  | "deletion_requested"
  | "force_deletion"
  | "manual_trigger"
  | "phase_changed"
  | "finalized"
  | WakeReason
  | ScheduleReason;

/** After a report that says something new. */
export type WakeReason =
  | "controller_status_created"
  | "controller_status_change"
  | "controller_generation_change"
  | "controller_status_and_generation_change";

/** Announcements of the scheduler. */
export const scheduleReasons = [
  "deletion_pending",
  "never_reconciled",
  "generation_mismatch",
  "unhealthy_reconciliation",
  "periodic_reconciliation",
  "healthy_reconciliation",
] as const;
export type ScheduleReason = (typeof scheduleReasons)[number];

/** The data of an event, as receivers get it. */
export interface EventData {
  readonly id: string;
  readonly type: EventType;
  readonly event_type: EventType;
  readonly cluster_id: string;
  readonly nodepool_id?: string;
  readonly generation: number;
  readonly platform: string;
  readonly reason: EventReason;
  readonly timestamp: string;
  readonly source: typeof eventSource;
  readonly created_by: string;
  readonly user: {
    readonly email: string;
    readonly domain: string;
    readonly roles: readonly string[];
    readonly organization_id?: string;
  };
  readonly metadata: Readonly<Record<string, unknown>>;
}
