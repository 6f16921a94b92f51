// Whose a host is. Two Applications may ask for the same one; it is the older's, and the younger's once that is gone.

import { keyOf, refOf, type DynamicObject, type ObjectRef } from "@keelson/client";
import type { ObjectCache } from "@keelson/controller";

const byHost = "host";

export class Hosts {
  readonly #cache: ObjectCache;
  readonly #hostOf: (object: DynamicObject) => string | undefined;

  /** `hostOf` gives the host that an Application asks for, if it asks for one. */
  constructor(cache: ObjectCache, hostOf: (object: DynamicObject) => string | undefined) {
    this.#cache = cache;
    this.#hostOf = hostOf;
    cache.addIndex(byHost, (object) => {
      const host = hostOf(object);
      return host === undefined ? [] : [host];
    });
  }

  hostOf(object: DynamicObject): string | undefined {
    return this.#hostOf(object);
  }

  /** Why the host is not the object's; undefined if it is. */
  takenBy(object: DynamicObject): string | undefined {
    const host = this.#hostOf(object);
    if (host === undefined) return undefined;
    const [oldest] = [...this.#cache.byIndex(byHost, host)].sort(byAge);
    if (oldest === undefined || oldest.metadata.uid === object.metadata.uid) return undefined;
    if (byAge(object, oldest) < 0) return undefined; // We know of it what the cache does not yet.
    return `host ${host} belongs to Application ${keyOf(refOf(oldest))}, which asked for it first`;
  }

  /** Why a host is nobody else's: an Application asks for it. */
  claimOn(host: string): string | undefined {
    const [oldest] = [...this.#cache.byIndex(byHost, host)].sort(byAge);
    if (oldest === undefined) return undefined;
    return `host ${host} belongs to Application ${keyOf(refOf(oldest))}, which asked for it`;
  }

  /** All who ask for the same host. */
  rivalsOf(object: DynamicObject): readonly ObjectRef[] {
    const host = this.#hostOf(object);
    if (host === undefined) return [];
    return [...this.#cache.byIndex(byHost, host)].map(refOf);
  }
}

/** Times have seconds: those of one second are told apart by their uids. */
function byAge(a: DynamicObject, b: DynamicObject): number {
  const age = ({ metadata }: DynamicObject) =>
    `${metadata.creationTimestamp ?? ""} ${metadata.uid ?? ""}`;
  return age(a) < age(b) ? -1 : 1;
}
