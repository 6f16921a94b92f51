// What brings keys into a controller's queue: changes of caches, and whatever else says that something is to be done.

import {
  keyOf,
  refOf,
  type DynamicObject,
  type KubeObject,
  type ObjectKind,
  type ObjectRef,
} from "@keelson/client";

import type { Change, ObjectCache } from "./cache/object-cache.ts";
import type { QueuePriority } from "./work-queue.ts";

export type Enqueue = (ref: ObjectRef, priority?: QueuePriority) => void;

export interface Source {
  /** Resolves when what is there already has been enqueued by `start`, or can be. */
  untilReady(signal: AbortSignal): Promise<void>;
  /** Enqueues from now on, until it is disposed of. */
  start(enqueue: Enqueue): Disposable;
}

/** Which changes count. */
export interface WatchesOptions<T extends KubeObject> {
  /** Left out: all. What it leaves out nobody looks at, until something else brings it. */
  readonly when?: (change: Change<T>) => boolean;
}

/** The objects of a cache themselves, or those that `refsOf` finds to be touched by a change. */
export function watches<T extends KubeObject = DynamicObject>(
  cache: ObjectCache<T>,
  refsOf: (object: T) => readonly ObjectRef[] = (object) => [refOf(object)],
  { when = () => true }: WatchesOptions<T> = {},
): Source {
  const start = (enqueue: Enqueue): Disposable =>
    cache.subscribe((change) => {
      if (!when(change)) return;
      const refs = new Map(refsOf(change.object).map((ref) => [keyOf(ref), ref]));
      // What an object no longer refers to has lost something.
      if (change.type === "updated") {
        for (const ref of refsOf(change.previous)) refs.set(keyOf(ref), ref);
      }
      for (const ref of refs.values()) enqueue(ref, priorityOf(change));
    });
  return { start, untilReady: (signal) => cache.untilSynced(signal) };
}

/**
 * For `when`: all but changes of the status alone, which are mostly our own. What people ask for is in the spec, whose
 * generation rises, in labels, annotations and finalizers, and in the wish to be deleted.
 */
export function isAskedFor<T extends KubeObject>(change: Change<T>): boolean {
  if (change.type !== "updated") return true;
  const [now, before] = [change.object.metadata, change.previous.metadata];
  if (now.generation === undefined || now.generation !== before.generation) return true;
  return (["deletionTimestamp", "labels", "annotations", "finalizers"] as const).some(
    (name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]),
  );
}

/** The owners, of this kind, of a cache's objects. */
export function watchesOwned<T extends KubeObject = DynamicObject>(
  cache: ObjectCache<T>,
  owner: ObjectKind,
): Source {
  const group = groupOf(owner.apiVersion);
  return watches(cache, ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter(({ kind, apiVersion }) => kind === owner.kind && groupOf(apiVersion) === group)
      .map(({ name }) => (namespace === undefined ? { name } : { namespace, name })),
  );
}

/** At the start everything is looked at; what changes then goes before. */
function priorityOf<T extends KubeObject>(change: Change<T>): QueuePriority {
  return change.type === "added" && change.isInitial ? "low" : "normal";
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
