// Loops over a cluster: informer caches with indexes, shared by all who need a kind; a keyed work queue; reconcilers
// as plain functions; leader election with a fencing token; events. A loop is told which object to look at, reads
// it from a cache that knows its own writes, and is run again until it is content.

export { done, requeueAfter, type Reconciler, type Result } from "./reconciler.ts";
