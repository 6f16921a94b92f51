// What each event means, for those who follow them: docs/reference/events.md is made of it.

import type { EventReason, EventType } from "./event.ts";

export const eventMeanings: Readonly<Record<EventType, string>> = {
  "cluster.created": "a cluster was declared",
  "cluster.updated": "its spec or its project changed: there is a new generation",
  "cluster.deleted": "its deletion was asked for: controllers let go of what they made",
  "cluster.reconcile": "look at it again, though nothing was changed by its owner",
  "cluster.finalized": "its controllers have let go, and it is gone",
  "nodepool.created": "a nodepool was declared",
  "nodepool.updated": "its spec changed: there is a new generation",
  "nodepool.deleted": "its deletion was asked for",
  "nodepool.reconcile": "look at it again, though nothing was changed by its owner",
  "nodepool.finalized": "its controllers have let go, and it is gone",
  "status.changed": "the phase that reports add up to has changed",
};

export const reasonMeanings: Readonly<Record<EventReason, string>> = {
  cluster_created: "a cluster was declared",
  nodepool_created: "a nodepool was declared",
  spec_change: "somebody changed it",
  deletion_requested: "somebody deleted it",
  force_deletion: "somebody deleted it and waits for no controller",
  manual_trigger: "somebody asked for it",
  phase_changed: "its phase has changed",
  finalized: "the last finalizer was closed",
  controller_status_created: "a controller has reported for the first time",
  controller_status_change: "a controller says something else than before",
  controller_generation_change: "a controller has seen the new generation",
  controller_status_and_generation_change: "both at once",
  deletion_pending: "by schedule: controllers still hold what is being deleted",
  never_reconciled: "by schedule: nobody has reported yet",
  generation_mismatch: "by schedule: reports are of an older generation",
  unhealthy_reconciliation: "by schedule: it is not well",
  periodic_reconciliation: "by schedule: it is new, or not yet stable",
  healthy_reconciliation: "by schedule: it is well",
};
