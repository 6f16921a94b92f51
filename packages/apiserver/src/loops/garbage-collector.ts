// Garbage collection: what no longer has an owner goes, in the way its owner's deletion asked for (KB 37).

import { setImmediate } from "node:timers/promises";

import {
  Backoff,
  type Clock,
  isCancellation,
  type JsonObject,
  type Log,
  type Random,
  TaskScope,
} from "@keelson/base";
import { Expired, type Revision, type Store, type Watch } from "@keelson/store";

import { textAt } from "../fields.ts";
import { finalizersOf, isTerminating, metadataText, ownersOf, uidOf } from "../object-metadata.ts";
import type { Objects } from "../objects.ts";
import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";
import { KeyQueue } from "./key-queue.ts";
import {
  nodeOf,
  OwnerGraph,
  type Node,
  type ObjectReference,
  type OwnerReference,
} from "./owner-graph.ts";

export interface GarbageCollectorOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Collects until `signal` aborts. Level-triggered: what was missed while nobody collected is found again at the start. */
export async function runGarbageCollector(
  options: GarbageCollectorOptions,
  signal: AbortSignal,
): Promise<void> {
  await using scope = new TaskScope(signal);
  const collector = new Collector(options, scope);
  using _ = options.registry.onChange(() => collector.followAll());
  collector.followAll();
  scope.spawn("queue", (within) => collector.run(within));
  await scope.join();
}

/** How soon a deletion that waits for the graph is looked at again. */
const behindMs = 20;

/** How soon an object is judged again that was changed while it was judged. */
const movedMs = 20;

interface Follower {
  readonly controller: AbortController;
  watch: Watch | undefined;
}

class Collector {
  readonly #options: GarbageCollectorOptions;
  readonly #scope: TaskScope;
  readonly #graph = new OwnerGraph();
  readonly #queue: KeyQueue;
  /** What each key of the queue stands for, as long as it waits. */
  readonly #references = new Map<string, ObjectReference>();
  readonly #followed = new Map<string, Follower>();

  constructor(options: GarbageCollectorOptions, scope: TaskScope) {
    this.#options = options;
    this.#scope = scope;
    const { clock, random, log } = options;
    this.#queue = new KeyQueue({
      name: "garbage collector",
      clock,
      random,
      log,
      workers: 8,
      look: (uid, signal) => this.#look(uid, signal),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(signal);
  }

  /** Follows every kind that is stored; a custom kind that is gone is left. */
  followAll(): void {
    const kinds = new Set<string>();
    for (const { storage, switches } of this.#options.registry.served.all) {
      // Events own nothing and are owned by nobody who waits for them.
      if (storage !== undefined && switches.collectable) kinds.add(storage.kind);
    }
    for (const [kind, { controller }] of this.#followed) {
      if (kinds.has(kind)) continue;
      controller.abort(new DOMException("the kind is no longer served", "AbortError"));
      this.#followed.delete(kind);
    }
    for (const kind of kinds) {
      if (this.#followed.has(kind) || this.#scope.signal.aborted) continue;
      const follower: Follower = { controller: new AbortController(), watch: undefined };
      this.#followed.set(kind, follower);
      this.#scope.spawn(`follow ${kind}`, (signal) =>
        this.#follow(kind, follower, AbortSignal.any([signal, follower.controller.signal])),
      );
    }
  }

  async #follow(kind: string, follower: Follower, signal: AbortSignal): Promise<void> {
    const { store, clock, random, log } = this.#options;
    const backoff = new Backoff({ random, initialMs: 50, maxMs: 5_000 });
    let from: Revision | "state" = "state";
    while (!signal.aborted) {
      try {
        const options = { from, initialEventsEnd: true, bookmarkEveryMs: 30_000 };
        using watch = await store.watch({ kind, namespace: "" }, options, signal);
        follower.watch = watch;
        /** What the state has shown so far; undefined once it is complete. */
        let seen: Set<string> | undefined = from === "state" ? new Set() : undefined;
        for await (const batch of watch.batches()) {
          for (const item of batch) {
            if (item.type === "BOOKMARK") {
              if (seen !== undefined && item.initialEventsEnd) {
                this.#afterState(kind, seen);
                seen = undefined;
              }
              continue;
            }
            const reference = { ...item.key, uid: item.uid };
            seen?.add(item.uid);
            if (item.type === "DELETED") this.#gone(reference);
            else this.#seen(reference, item.body.value);
          }
          backoff.reset();
        }
        from = watch.position === 0 ? "state" : watch.position;
      } catch (error) {
        if (isCancellation(error, signal)) return;
        if (error instanceof Expired) from = "state";
        else log.warn({ kind, error }, "the garbage collector lost a watch");
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  /** Before the state there was a gap: what it does not show is gone, and whose owner went then nobody has said. */
  #afterState(kind: string, seen: ReadonlySet<string>): void {
    for (const { reference } of this.#graph.nodes()) {
      if (reference.kind === kind && !seen.has(reference.uid)) this.#gone(reference);
    }
    for (const { reference } of this.#graph.nodes()) this.#add(reference);
  }

  #seen(reference: ObjectReference, object: JsonObject): void {
    const { before, after } = this.#graph.set(reference, object);
    if (after === undefined) {
      // It gave up its owners, or its last finalizer of ours: whoever waited for it may go on.
      for (const { uid } of before?.owners ?? []) this.#lookAtOwner(uid);
      return;
    }
    const isNews =
      before === undefined ||
      before.owners.length !== after.owners.length ||
      before.isTerminating !== after.isTerminating ||
      before.isDeletingDependents !== after.isDeletingDependents ||
      before.isOrphaning !== after.isOrphaning ||
      after.owners.some(({ uid }, index) => before.owners[index]?.uid !== uid);
    if (isNews) this.#add(reference);
    // Whom it no longer holds may go on.
    const blocked = new Set(after.owners.filter(blocks).map(({ uid }) => uid));
    for (const owner of before?.owners ?? []) {
      if (blocks(owner) && !blocked.has(owner.uid)) this.#lookAtOwner(owner.uid);
    }
  }

  #gone(reference: ObjectReference): void {
    const node = this.#graph.delete(reference.uid);
    for (const { reference: dependent } of this.#graph.dependentsOf(reference.uid)) {
      this.#add(dependent);
    }
    for (const { uid } of node?.owners ?? []) this.#lookAtOwner(uid);
  }

  /** An owner that waits for its dependents wants to know that one is gone. */
  #lookAtOwner(uid: string): void {
    const owner = this.#graph.get(uid);
    if (owner?.isDeletingDependents === true) this.#add(owner.reference);
  }

  #add(reference: ObjectReference): void {
    this.#references.set(reference.uid, reference);
    this.#queue.add(reference.uid);
  }

  async #look(uid: string, signal: AbortSignal): Promise<number | undefined> {
    const reference = this.#references.get(uid);
    if (reference === undefined) return undefined;
    // Before the look: whoever adds it from now on wants another.
    this.#references.delete(uid);
    try {
      const againMs = await this.#lookAt(reference, signal);
      if (againMs !== undefined) this.#references.set(uid, reference);
      return againMs;
    } catch (error) {
      this.#references.set(uid, reference);
      throw error;
    }
  }

  async #lookAt(reference: ObjectReference, signal: AbortSignal): Promise<number | undefined> {
    const { uid, kind } = reference;
    const resource = this.#resourceOf(kind);
    if (resource === undefined) return undefined;
    const object = await this.#options.objects.find(resource, reference, signal);
    if (object === undefined || uidOf(object) !== uid) return undefined;
    const node = this.#graph.get(uid);
    if (node?.isOrphaning === true || node?.isDeletingDependents === true) {
      const deletedAt = Number(metadataText(object, "resourceVersion"));
      if (!(await this.#knowsAllUpTo(deletedAt, signal))) return behindMs;
    }
    if (node?.isOrphaning === true) await this.#orphanDependents(resource, node, signal);
    if (node?.isDeletingDependents === true) await this.#deleteDependents(resource, node, signal);
    else if (!isTerminating(object)) {
      return await this.#judge(resource, { reference, object }, signal);
    }
    return undefined;
  }

  /** Whether the graph shows every kind as of a revision: a dependent that is not there yet would be missed for good. */
  async #knowsAllUpTo(revision: Revision, signal: AbortSignal): Promise<boolean> {
    await this.#options.store.reached(revision, signal);
    const followers = [...this.#followed.values()];
    if (followers.some(({ watch }) => (watch?.position ?? 0) < revision)) return false;
    // What was handed out is noted within this turn.
    await setImmediate(undefined, { signal });
    return true;
  }

  /** Whether its owners still want the object, as it was just read: of a new one the graph may not have heard yet (A12). */
  async #judge(
    resource: Resource,
    { reference, object }: { readonly reference: ObjectReference; readonly object: JsonObject },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { owners } = nodeOf(reference, object);
    if (owners.length === 0) return undefined;
    const states = await Promise.all(
      owners.map(async (owner) => ({
        owner,
        state: await this.#stateOf(owner, reference, signal),
      })),
    );
    const of = (wanted: OwnerState): readonly string[] =>
      states.filter(({ state }) => state === wanted).map(({ owner }) => owner.uid);
    const solid = of("solid");
    const waiting = of("waiting");
    if (solid.length > 0) {
      const stale = new Set([...of("absent"), ...waiting]);
      if (stale.size > 0) await this.#dropOwners(resource, reference, stale, signal);
      return undefined;
    }
    const finalizers = finalizersOf(object);
    const dependents = this.#graph.dependentsOf(reference.uid);
    if (waiting.length > 0 && dependents.some((one) => one.isDeletingDependents)) {
      // Who waits for it may be who it would wait for: in a circle each would wait for ever.
      await this.#unblockOwners(resource, reference, signal);
    }
    const propagationPolicy =
      waiting.length > 0 && dependents.length > 0
        ? ("Foreground" as const)
        : finalizers.includes("orphan")
          ? ("Orphan" as const)
          : finalizers.includes("foregroundDeletion")
            ? ("Foreground" as const)
            : ("Background" as const);
    const expected = {
      uid: reference.uid,
      resourceVersion: metadataText(object, "resourceVersion"),
    };
    const options = { ...expected, propagationPolicy };
    const deleted = await this.#options.objects.delete(resource, reference, options, signal);
    // It is gone, or is another by now, which may have found an owner.
    return deleted === undefined ? movedMs : undefined;
  }

  async #stateOf(
    owner: OwnerReference,
    dependent: ObjectReference,
    signal: AbortSignal,
  ): Promise<OwnerState> {
    const resource = this.#ownerResource(owner);
    // A kind that nobody serves may be served again: nothing is deleted for its sake.
    if (resource === undefined) return "solid";
    const namespace = resource.isNamespaced ? dependent.namespace : "";
    // An owner in a namespace cannot own what is in none.
    if (resource.isNamespaced && namespace === "") return "solid";
    const found = await this.#options.objects.find(
      resource,
      { namespace, name: owner.name },
      signal,
    );
    if (found === undefined || uidOf(found) !== owner.uid) return "absent";
    const isWaiting = isTerminating(found) && finalizersOf(found).includes("foregroundDeletion");
    return isWaiting ? "waiting" : "solid";
  }

  /** Foreground: the dependents go first; those that block hold the owner. */
  async #deleteDependents(resource: Resource, node: Node, signal: AbortSignal): Promise<void> {
    const { uid } = node.reference;
    const blocking = this.#blocking(uid);
    const circle = blocking.length === 0 ? [] : this.#circleOf(uid);
    // Whoever is held anyway is the one that need not wait: the others go when it is gone.
    const held = node.isHeld ? undefined : circle?.find(({ isHeld }) => isHeld);
    if (held !== undefined) {
      this.#add(held.reference);
      return;
    }
    if (circle !== undefined) {
      await this.#removeFinalizer(resource, node.reference, "foregroundDeletion", signal);
      return;
    }
    for (const dependent of blocking) {
      if (!dependent.isTerminating) this.#add(dependent.reference);
    }
  }

  #blocking(uid: string): readonly Node[] {
    return this.#graph
      .dependentsOf(uid)
      .filter(
        ({ reference, owners }) =>
          reference.uid !== uid && owners.some((owner) => owner.uid === uid && blocks(owner)),
      );
  }

  /**
   * The circle in which it waits for itself, and nobody for anybody outside: Kubernetes lets one wait for ever that was deleted
   * one by one. Undefined if it is in none.
   */
  #circleOf(uid: string): readonly Node[] | undefined {
    const awaited = new Set<string>();
    const rest = [uid];
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const blocking = this.#graph.get(next)?.isDeletingDependents ? this.#blocking(next) : [];
      if (blocking.length === 0) return undefined;
      const others = blocking
        .map(({ reference }) => reference.uid)
        .filter((one) => !awaited.has(one));
      for (const other of others) awaited.add(other);
      rest.push(...others);
    }
    if (!awaited.has(uid)) return undefined;
    return [...awaited].map((one) => this.#graph.get(one)).filter((node) => node !== undefined);
  }

  async #orphanDependents(resource: Resource, node: Node, signal: AbortSignal): Promise<void> {
    const { uid } = node.reference;
    for (const { reference } of this.#graph.dependentsOf(uid)) {
      const own = this.#resourceOf(reference.kind);
      if (own !== undefined) await this.#dropOwners(own, reference, new Set([uid]), signal);
    }
    await this.#removeFinalizer(resource, node.reference, "orphan", signal);
  }

  async #dropOwners(
    resource: Resource,
    reference: ObjectReference,
    uids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const drop = (live: JsonObject): JsonObject | undefined => {
      const owners = ownersOf(live);
      const kept = owners.filter((owner) => !uids.has(textAt(owner, "uid")));
      return kept.length === owners.length
        ? undefined
        : withMetadata(live, "ownerReferences", kept);
    };
    await this.#change(resource, reference, drop, signal);
  }

  /** Lets its owners go before it. */
  async #unblockOwners(
    resource: Resource,
    reference: ObjectReference,
    signal: AbortSignal,
  ): Promise<void> {
    const unblock = (live: JsonObject): JsonObject | undefined => {
      const owners = ownersOf(live);
      if (!owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) return undefined;
      const free = owners.map((owner) =>
        owner["blockOwnerDeletion"] === true ? { ...owner, blockOwnerDeletion: false } : owner,
      );
      return withMetadata(live, "ownerReferences", free);
    };
    await this.#change(resource, reference, unblock, signal);
  }

  async #removeFinalizer(
    resource: Resource,
    reference: ObjectReference,
    finalizer: string,
    signal: AbortSignal,
  ): Promise<void> {
    const remove = (live: JsonObject): JsonObject | undefined => {
      const finalizers = finalizersOf(live);
      const others = finalizers.filter((name) => name !== finalizer);
      return others.length === finalizers.length
        ? undefined
        : withMetadata(live, "finalizers", others);
    };
    await this.#change(resource, reference, remove, signal);
  }

  /** Changes an object as it is by now, unless it is another of the same name; `undefined` is no change. */
  async #change(
    resource: Resource,
    reference: ObjectReference,
    change: (live: JsonObject) => JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#options.objects.update(
      resource,
      reference,
      (live) => (uidOf(live) === reference.uid ? change(live) : undefined),
      signal,
    );
  }

  #resourceOf(kind: string): Resource | undefined {
    return this.#options.registry.served.all.find(({ storage }) => storage?.kind === kind);
  }

  #ownerResource({ apiVersion, kind }: OwnerReference): Resource | undefined {
    const slash = apiVersion.indexOf("/");
    const group = slash < 0 ? "" : apiVersion.slice(0, slash);
    return this.#options.registry.served.all.find(
      (one) => one.group === group && one.kind === kind && one.storage !== undefined,
    );
  }
}

/** Absent: not there, or another of the same name. Waiting: it is being deleted once its dependents are gone. */
type OwnerState = "solid" | "absent" | "waiting";

function blocks({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion;
}

function withMetadata(
  object: JsonObject,
  name: string,
  list: readonly (JsonObject | string)[],
): JsonObject {
  const { metadata } = object as { metadata: JsonObject };
  const { [name]: _, ...rest } = metadata;
  return { ...object, metadata: list.length === 0 ? rest : { ...rest, [name]: list } };
}
