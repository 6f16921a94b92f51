// Whose a host is. Two Applications may ask for the same one; it is the older's, and the younger's once that is gone. That of
// logins is no app's: whoever had it would be given everybody's passwords.

import { keyOf, refOf, type DynamicObject, type ObjectRef } from "@keelson/client";
import type { ObjectCache } from "@keelson/controller";

import { statusOf } from "./object-status.ts";

const byHost = "host";

export interface HostsOptions {
  /** The host that an Application asks for, if it asks for one. */
  readonly hostOf: (object: DynamicObject) => string | undefined;
  /** Where browsers find Keycloak, if there is one. */
  readonly loginUrl: string | undefined;
}

export class Hosts {
  readonly #cache: ObjectCache;
  readonly #hostOf: HostsOptions["hostOf"];
  readonly #loginHost: string | undefined;
  /** Whose a host was when that was last asked, by uid. */
  readonly #holders = new Map<string, string>();

  constructor(cache: ObjectCache, { hostOf, loginUrl }: HostsOptions) {
    this.#cache = cache;
    this.#hostOf = hostOf;
    this.#loginHost = loginUrl === undefined ? undefined : URL.parse(loginUrl)?.hostname;
    cache.addIndex(byHost, (object) => {
      const host = hostOf(object);
      return host === undefined ? [] : [host];
    });
    // What nobody asks for any more need not be known.
    cache.subscribe((change) => {
      const before = change.type === "updated" ? change.previous : change.object;
      const host = hostOf(before);
      const isLeft = change.type === "deleted" || hostOf(change.object) !== host;
      if (host === undefined || !isLeft) return;
      if (this.#holders.get(host) === before.metadata.uid) this.#holders.delete(host);
    });
  }

  hostOf(object: DynamicObject): string | undefined {
    return this.#hostOf(object);
  }

  /** Why the host is not the object's; undefined if it is. */
  takenBy(object: DynamicObject): string | undefined {
    const host = this.#hostOf(object);
    if (host === undefined) return undefined;
    if (host === this.#loginHost) return forLogins(host);
    const first = this.#firstFor(host);
    // What the cache does not know of yet asks first, if it is older.
    if (
      first === undefined ||
      first.metadata.uid === object.metadata.uid ||
      createdAt(object) < createdAt(first)
    ) {
      this.#holders.set(host, object.metadata.uid ?? "");
      return undefined;
    }
    return `host ${host} belongs to Application ${keyOf(refOf(first))}, which asked for it first`;
  }

  /** Why a host is nobody else's: an Application asks for it, or people log in there. */
  claimOn(host: string): string | undefined {
    if (host === this.#loginHost) return forLogins(host);
    const oldest = this.#firstFor(host);
    if (oldest === undefined) return undefined;
    return `host ${host} belongs to Application ${keyOf(refOf(oldest))}, which asked for it`;
  }

  /**
   * The oldest. Times have seconds: of those of one second it stays with who has it, by our memory, else by what is said of
   * them; where nobody has it yet, uids decide.
   */
  #firstFor(host: string): DynamicObject | undefined {
    const holder = this.#holders.get(host);
    const all = [...this.#cache.byIndex(byHost, host)];
    const isKnown = all.some(({ metadata }) => metadata.uid === holder);
    const has = (object: DynamicObject) =>
      isKnown ? object.metadata.uid === holder : hadHost(object);
    const rank = (object: DynamicObject) =>
      `${createdAt(object)} ${has(object) ? 0 : 1} ${object.metadata.uid ?? ""}`;
    return all.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
  }

  /** All who ask for the same host. */
  rivalsOf(object: DynamicObject): readonly ObjectRef[] {
    const host = this.#hostOf(object);
    if (host === undefined) return [];
    return [...this.#cache.byIndex(byHost, host)].map(refOf);
  }
}

function forLogins(host: string): string {
  return `host ${host} is where people log in (AUTH_PUBLIC_URL): choose another`;
}

function createdAt({ metadata }: DynamicObject): string {
  return metadata.creationTimestamp ?? "";
}

/** Whether it had its host when something was last said of it. */
function hadHost(object: DynamicObject): boolean {
  const ingress = (statusOf(object).conditions ?? []).find(({ type }) => type === "IngressReady");
  return ingress !== undefined && ingress.reason !== "Conflict";
}
