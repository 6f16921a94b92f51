// Writes of resources, one after the other in a transaction that the caller owns: a request, or a batch of them.

import { refuseProblems, RestError, type Identity } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import {
  findRevision,
  forgetResource,
  insertResources,
  lockByKey,
  lockResource,
  markDeleted,
  purgeUntouched,
  toResource,
  updateResource,
  writeAs,
  type Caller,
  type Inserted,
  type ResourceRow,
} from "../sql/resources.ts";
import { earlierState } from "./earlier-state.ts";
import { groupOf } from "./kinds.ts";
import { noSuchResource, requireCluster, visible } from "./permissions.ts";
import {
  checkMatch,
  checkNoCopy,
  checkWritable,
  replaced,
  replacementOf,
  type Replacement,
} from "./replacement.ts";
import type { NewResource } from "./resource-body.ts";
import { usualPolicies, type Resource, type ResourceKey } from "./resource.ts";
import type { SecretMarkers } from "./secret-markers.ts";
import type { Deed } from "../sender.ts";

/** A write, and whether it wrote anything. */
export interface Written {
  readonly resource: Resource;
  readonly outcome: "created" | "updated" | "unchanged";
}

/** What one caller writes in one transaction. Throws a `RestError` for whatever is refused. */
export class ResourceWriter {
  readonly #sql: Transaction;
  readonly #identity: Identity;
  readonly #changeSet: string | undefined;
  readonly #markers: SecretMarkers;
  readonly #onWritten: (resource: Resource, deed: Deed) => void;

  constructor(options: {
    readonly sql: Transaction;
    readonly identity: Identity;
    readonly changeSet?: string;
    readonly markers: SecretMarkers;
    /** Told of each write, and of nothing that changes nothing. It is not committed yet. */
    readonly onWritten?: (resource: Resource, deed: Deed) => void;
  }) {
    this.#sql = options.sql;
    this.#identity = options.identity;
    this.#changeSet = options.changeSet;
    this.#markers = options.markers;
    this.#onWritten = options.onWritten ?? (() => {});
  }

  /** `RESOURCE_EXISTS` if the key is taken. */
  async create(wanted: NewResource): Promise<Written> {
    const resource = await this.#insert(wanted);
    if (resource === undefined) throw keyTaken(wanted.key);
    return { resource, outcome: "created" };
  }

  /** Creates many in one statement. Calls `blame` with the index of the first that is refused, and throws what it gives. */
  async createAll(
    all: readonly NewResource[],
    blame: (error: unknown, index: number) => unknown,
  ): Promise<readonly Written[]> {
    const rows: Inserted[] = [];
    let refusal: { readonly error: unknown } | undefined;
    for (const [index, wanted] of all.entries()) {
      try {
        rows.push(this.#judged(wanted));
      } catch (error) {
        refusal = { error: blame(error, index) };
        break; // Those before it may be to blame yet.
      }
    }
    const inserted = rows.length === 0 ? [] : await this.#insertAll(rows);
    const byKey = new Map(inserted.map((resource) => [keyText(resource), resource]));
    const written = rows.map((row, index): Written => {
      const key = keyText(row);
      const resource = byKey.get(key);
      if (resource === undefined) throw blame(keyTaken(row), index);
      byKey.delete(key); // Another of this key is refused.
      return { resource, outcome: "created" };
    });
    if (refusal !== undefined) throw refusal.error;
    return written;
  }

  /** Creates it, or replaces the one of that key; only the latter, if the caller expects it at `ifMatch`. */
  async upsert(wanted: NewResource, ifMatch?: number): Promise<Written> {
    requireCluster(this.#identity, wanted.key.clusterId);
    for (;;) {
      const present = await this.#findByKey(wanted.key);
      if (present !== undefined) return this.#replace(present, replacementOf(wanted), ifMatch);
      if (ifMatch !== undefined) {
        throw new RestError("PRECONDITION_FAILED", "there is no such resource");
      }
      const resource = await this.#insert(wanted);
      if (resource !== undefined) return { resource, outcome: "created" };
      // Somebody else has just created it: now it can be seen.
    }
  }

  /** Replaces what the body says. Writes nothing where nothing would change. */
  async replace(at: number | ResourceKey, asked: Replacement, ifMatch?: number): Promise<Written> {
    return this.#replace(await this.#locked(at), asked, ifMatch);
  }

  /** Also of one that is being deleted: while it is paused nothing is taken away, so it must be possible to go on. */
  async setPaused(id: number, paused: boolean): Promise<Resource> {
    const resource = await this.#locked(id);
    checkNoCopy(resource);
    if (resource.paused === paused) return resource;
    const caller = this.#caller({ keepsRevision: false });
    const [row] = await this.#sql.run(updateResource, { caller, ...resource, paused });
    return this.#written(row, resource, paused ? "paused" : "resumed");
  }

  /** Asks for its deletion; asking again changes nothing. */
  async delete(at: number | ResourceKey, ifMatch?: number): Promise<Resource> {
    const resource = await this.#locked(at);
    if (resource.isDeleting) return resource;
    checkMatch(resource, ifMatch);
    checkNoCopy(resource);
    await this.#asCaller();
    const [row] = await this.#sql.run(markDeleted, resource.id);
    await this.#sql.run(purgeUntouched, resource.id);
    return this.#written(row, resource, "deleted");
  }

  /** Takes it out of our care and leaves the object as it is. */
  async forget(id: number, ifMatch?: number): Promise<Resource> {
    const resource = await this.#locked(id);
    checkMatch(resource, ifMatch);
    checkNoCopy(resource);
    await this.#asCaller();
    await this.#sql.run(forgetResource, id);
    this.#onWritten(resource, "forgotten");
    return resource;
  }

  async #insert(wanted: NewResource): Promise<Resource | undefined> {
    const [resource] = await this.#insertAll([this.#judged(wanted)]);
    return resource;
  }

  async #insertAll(rows: readonly Inserted[]): Promise<readonly Resource[]> {
    const caller = this.#caller({ keepsRevision: false });
    const made = (await this.#sql.run(insertResources, { caller, rows })).map(toResource);
    for (const resource of made) this.#onWritten(resource, "created");
    return made;
  }

  #written(row: ResourceRow | undefined, before: Resource, deed: Deed): Resource {
    const resource = row === undefined ? before : toResource(row);
    this.#onWritten(resource, deed);
    return resource;
  }

  /** What a new resource is, if the caller may write it. */
  #judged({ key, desiredSpec, revision, policies, paused }: NewResource): Inserted {
    requireCluster(this.#identity, key.clusterId);
    const restored = this.#markers.restore(desiredSpec, undefined, key);
    refuseProblems(restored.problems);
    return {
      ...usualPolicies,
      ...key,
      ...policies,
      desiredSpec: restored.spec,
      revision: revision ?? 1,
      paused: paused ?? false,
    };
  }

  async #replace(
    resource: Resource,
    asked: Replacement,
    ifMatch: number | undefined,
  ): Promise<Written> {
    checkWritable(resource, ifMatch);
    const earlier = await earlierState(asked, (place) =>
      this.#sql.run(findRevision, { id: resource.id, ...place }),
    );
    const next = replaced(resource, asked, earlier, this.#markers);
    if (!next.isChanged) return { resource, outcome: "unchanged" };
    const caller = this.#caller(next);
    const [row] = await this.#sql.run(updateResource, { caller, ...next.resource });
    if (row === undefined) throw noSuchResource();
    return { resource: this.#written(row, resource, "updated"), outcome: "updated" };
  }

  async #locked(at: number | ResourceKey): Promise<Resource> {
    if (typeof at !== "number") {
      requireCluster(this.#identity, at.clusterId);
      return visible(this.#identity, await this.#findByKey(at));
    }
    const [row] = await this.#sql.run(lockResource, at);
    return visible(this.#identity, row === undefined ? undefined : toResource(row));
  }

  async #findByKey(key: ResourceKey): Promise<Resource | undefined> {
    const [row] = await this.#sql.run(lockByKey, { ...key, apiGroup: groupOf(key.apiVersion) });
    return row === undefined ? undefined : toResource(row);
  }

  async #asCaller(): Promise<void> {
    await this.#sql.run(writeAs, this.#caller({ keepsRevision: false }));
  }

  #caller({ keepsRevision }: { readonly keepsRevision: boolean }): Caller {
    return { actor: this.#identity.user, changeSet: this.#changeSet, keepsRevision };
  }
}

function keyTaken({ clusterId, namespace, kind, name }: ResourceKey): RestError {
  const where = namespace === "" ? clusterId : `${namespace} of ${clusterId}`;
  return new RestError("RESOURCE_EXISTS", `there is a ${kind} ${name} in ${where} already`);
}

/** Versions of one group are of one key. */
function keyText({ clusterId, namespace, apiVersion, kind, name }: ResourceKey): string {
  return JSON.stringify([clusterId, namespace, groupOf(apiVersion), kind, name]);
}
