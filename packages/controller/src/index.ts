// Loops over a cluster: informer caches with indexes, shared by all who need a kind; a keyed work queue; reconcilers
// as plain functions; leader election with a fencing token; events. A loop is told which object to look at, reads
// it from a cache that knows its own writes, and is run again until it is content.

export { Caches, type CacheOptions, type CachesOptions, type CacheState } from "./cache/caches.ts";
export {
  ObjectCache,
  type Change,
  type ChangeListener,
  type IndexFunction,
  type ObjectCacheOptions,
} from "./cache/object-cache.ts";
export { CachedResource, type CachedResourceOptions } from "./cached-resource.ts";
export { runController, RunTimeout, type ControllerOptions } from "./controller.ts";
export {
  runElected,
  usualElectionTimes,
  type ElectionOptions,
  type ElectionTimes,
  type LeaseClient,
} from "./election/elector.ts";
export {
  Fenced,
  fencingAnnotation,
  fencingTokenOf,
  Leadership,
  LeadershipLost,
  type FencedTarget,
} from "./election/leadership.ts";
export { leaseKind, type Lease } from "./election/lease.ts";
export {
  EventRecorder,
  type EventClient,
  type EventLimits,
  type EventRecorderOptions,
  type Happening,
} from "./events/event-recorder.ts";
export { controllerMetrics, type ControllerMetrics } from "./metrics.ts";
export { done, requeueAfter, type Reconciler, type Result } from "./reconciler.ts";
export {
  isAskedFor,
  watches,
  watchesOwned,
  type Enqueue,
  type Source,
  type WatchesOptions,
} from "./source.ts";
export {
  WorkQueue,
  type QueueBackoff,
  type QueuePriority,
  type Run,
  type WorkQueueOptions,
} from "./work-queue.ts";
