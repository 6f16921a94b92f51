// Every type of events and what it means: docs/reference/events.md is made of it.

export const fleetEventMeanings = {
  "resource.created": "a resource was declared",
  "resource.updated": "it was changed, rolled back, paused or resumed",
  "resource.applied": "the cluster has taken what was sent",
  "resource.failed": "it could not be delivered; the data say whose fault that is",
  "resource.observed": "what the cluster holds was seen, and is as applied",
  "resource.drifted": "what the cluster holds differs from what was applied",
  "resource.healed": "a drift is over",
  "resource.stalled": "its delivery is overdue",
  "resource.deleting": "its deletion was asked for",
  "resource.deleted": "its object is gone, and so is the resource",
  "target.created": "a cluster was registered",
  "target.updated": "its address, credential, labels or pause was changed",
  "target.deleted": "it is delivered to no longer",
  "target.healthy": "the cluster answers",
  "target.degraded": "the cluster answers, and not well",
  "target.unreachable": "the cluster does not answer",
  "target.unknown": "nobody knows whether the cluster answers",
  "global.created": "a global resource was declared",
  "global.updated": "it was changed, rolled back, paused or resumed",
  "global.deleting": "its deletion was asked for, in all clusters",
  "global.deleted": "its last copy is gone",
} as const;

export type FleetEventType = keyof typeof fleetEventMeanings;

export function isFleetEventType(word: string): word is FleetEventType {
  return Object.hasOwn(fleetEventMeanings, word);
}
