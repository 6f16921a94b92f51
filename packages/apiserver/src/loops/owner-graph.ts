// Who owns whom, as far as anybody owns anything: the memory of garbage collection.

import type { JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { textAt } from "../fields.ts";
import { finalizersOf, isTerminating, ownersOf } from "../object-metadata.ts";

/** An object, wherever it is. */
export interface ObjectReference {
  /** The store's name of its kind. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion: boolean;
}

/** What is remembered of an object that has owners, or whose deletion waits for its dependents. */
export interface Node {
  readonly reference: ObjectReference;
  readonly owners: readonly OwnerReference[];
  readonly isTerminating: boolean;
  readonly isDeletingDependents: boolean;
  readonly isOrphaning: boolean;
  /** Whether more than the wait for its dependents holds it. */
  readonly isHeld: boolean;
}

/** Objects by uid, and dependents by the uid of their owner. Objects that own nothing and belong to nobody cost nothing. */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  dependentsOf(uid: string): readonly Node[] {
    const uids = this.#dependents.get(uid);
    if (uids === undefined) return [];
    return [...uids].map((one) => this.#nodes.get(one)).filter((node) => node !== undefined);
  }

  /** Notes an object as it is now. Answers what is remembered of it, before and after. */
  set(
    reference: ObjectReference,
    object: JsonObject,
  ): { readonly before: Node | undefined; readonly after: Node | undefined } {
    const before = this.#nodes.get(reference.uid);
    const node = nodeOf(reference, object);
    const isWorth = node.owners.length > 0 || node.isDeletingDependents || node.isOrphaning;
    this.#unlink(before);
    if (!isWorth) {
      this.#nodes.delete(reference.uid);
      return { before, after: undefined };
    }
    this.#nodes.set(reference.uid, node);
    for (const { uid } of node.owners) {
      let set = this.#dependents.get(uid);
      if (set === undefined) this.#dependents.set(uid, (set = new Set()));
      set.add(reference.uid);
    }
    return { before, after: node };
  }

  /** Forgets an object that is gone. */
  delete(uid: string): Node | undefined {
    const node = this.#nodes.get(uid);
    this.#unlink(node);
    this.#nodes.delete(uid);
    return node;
  }

  nodes(): IterableIterator<Node> {
    return this.#nodes.values();
  }

  #unlink(node: Node | undefined): void {
    for (const { uid } of node?.owners ?? []) {
      const set = this.#dependents.get(uid);
      set?.delete(node?.reference.uid ?? "");
      if (set?.size === 0) this.#dependents.delete(uid);
    }
  }
}

/** What garbage collection needs to know of an object. */
export function nodeOf(reference: ObjectReference, object: JsonObject): Node {
  const finalizers = finalizersOf(object);
  const terminating = isTerminating(object);
  return {
    reference,
    owners: ownersOf(object).map(ownerOf),
    isTerminating: terminating,
    isDeletingDependents: terminating && finalizers.includes("foregroundDeletion"),
    isOrphaning: terminating && finalizers.includes("orphan"),
    isHeld: finalizers.some((name) => name !== "foregroundDeletion"),
  };
}

function ownerOf(owner: JsonObject): OwnerReference {
  return {
    apiVersion: textAt(owner, "apiVersion"),
    kind: textAt(owner, "kind"),
    name: textAt(owner, "name"),
    uid: textAt(owner, "uid"),
    blockOwnerDeletion: memberOf(owner, "blockOwnerDeletion") === true,
  };
}
