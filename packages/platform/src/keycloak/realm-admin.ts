// Keycloak as the platform needs it: a realm for each app, with its client and its providers, given, kept and taken
// away. It knows nothing of Kubernetes.

import { systemClock, type Clock } from "@keelson/base";
import type { Owned } from "../kinds/status.ts";
import type { Names } from "../names/names.ts";
import { claim, type Mark } from "../ownership/claim.ts";
import type { Ledger } from "../ownership/ledger.ts";
import { isOwnedBy, type Owner } from "../ownership/owner.ts";
import { Settling } from "../ownership/settling.ts";
import type { OnCall } from "../steps/call-point.ts";
import { StepError } from "../steps/step-error.ts";
import { clientFields, type ClientUrls } from "./client-plan.ts";
import { differences, isNone } from "./differences.ts";
import { Keycloak, type KeycloakAccess } from "./keycloak.ts";
import { isNoRealm, isTaken, isUnanswered } from "./keycloak-errors.ts";
import { ensureProviders, type ProvidersWanted } from "./providers.ts";
import { markOf, withMark, type Realm } from "./realm-mark.ts";

export interface RealmAdminOptions {
  /** Where Keycloak is as it is now. Asked for at first use, and after Keycloak refused the last one. */
  readonly access: () => Promise<KeycloakAccess>;
  readonly timeoutMs?: number;
  /** How long a realm may still come to be after a call that an operator before us may have left. */
  readonly settleMs?: number;
  /** The same after a call of ours that was not answered in time. */
  readonly unansweredMs?: number;
  readonly clock?: Clock;
  readonly onCall?: OnCall | undefined;
}

export interface RealmWanted extends ProvidersWanted {
  readonly names: Pick<Names, "realm" | "client">;
  readonly owner: Owner;
  readonly ledger: Ledger;
  /** Whether what an Application of the same name left behind may be taken over. */
  readonly adopts: boolean;
  readonly urls: ClientUrls;
}

export interface Leaving {
  readonly owner: Owner;
  readonly ledger: Ledger;
}

/**
 * Every failure is a `StepError`, but those of a bug, and none has a password in it. Calls may be repeated: what is
 * there already is not made again, and where nothing differs nothing is written.
 */
export class RealmAdmin {
  readonly #keycloak: Keycloak;
  readonly #clock: Clock;
  readonly #settling: Settling;
  readonly #unansweredMs: number;
  /** When the creation of a realm was last given up, by the monotonic clock. */
  readonly #unanswered = new Map<string, number>();

  constructor(options: RealmAdminOptions) {
    const { access, timeoutMs = 10_000, settleMs = 10_000, clock = systemClock, onCall } = options;
    this.#keycloak = new Keycloak({ access, timeoutMs, clock, onCall });
    this.#clock = clock;
    this.#settling = new Settling(clock, settleMs);
    this.#unansweredMs = options.unansweredMs ?? 60_000;
  }

  /**
   * Gives an app its realm, its client and its providers. Resolves with the names of the calls that were needed for it.
   *
   * Throws a Conflict, having written nothing, where the realm is somebody else's.
   */
  async ensure(wanted: RealmWanted, signal: AbortSignal): Promise<readonly string[]> {
    const { names, ledger } = wanted;
    const { realm } = names;
    this.#settling.end(`realm ${realm}`);
    const found = await this.#find(realm, signal);
    if (found !== undefined) claimRealm(found, wanted);
    const isReady = ledger.stateOf("Realm", realm) === "Ready";
    // Before it is made: a crash from here on leaves nothing that nobody knows of.
    if (!isReady) await ledger.record({ kind: "Realm", name: realm, state: "Creating" }, signal);
    const changes = [
      ...(await this.#ensureRealm(found, wanted, signal)),
      ...(await this.#ensureClient(wanted, signal)),
      ...(await ensureProviders(this.#keycloak, { realm, ...wanted }, signal)),
    ];
    if (!isReady) await ledger.record({ kind: "Realm", name: realm, state: "Ready" }, signal);
    this.#unanswered.delete(realm); // It has come to be.
    return changes;
  }

  /** Takes away the realms that the ledger names, and only its owner's. An empty ledger costs no call. */
  async remove({ owner, ledger }: Leaving, signal: AbortSignal): Promise<void> {
    for (const { name: realm, state } of ledger.all("Realm")) {
      if ((await this.#findOwned({ realm, state }, owner, signal)) !== undefined) {
        if (state !== "Deleting") {
          await ledger.record({ kind: "Realm", name: realm, state: "Deleting" }, signal);
        }
        await this.#delete(realm, signal);
      }
      this.#unanswered.delete(realm);
      await ledger.forget("Realm", realm, signal);
    }
  }

  /** Keeps the realms that the ledger names, with their users, for a successor that adopts them. */
  async retain({ owner, ledger }: Leaving, signal: AbortSignal): Promise<void> {
    for (const { name: realm, state } of ledger.all("Realm")) {
      const found = await this.#findOwned({ realm, state }, owner, signal);
      if (found === undefined) {
        await ledger.forget("Realm", realm, signal);
        continue;
      }
      if (markOf(found)?.isRetained !== true) {
        await this.#mark("retainRealm", found, { owner, isRetained: true }, signal);
      }
      if (state !== "Retained") {
        await ledger.record({ kind: "Realm", name: realm, state: "Retained" }, signal);
      }
    }
  }

  async #ensureRealm(
    found: Realm | undefined,
    wanted: RealmWanted,
    signal: AbortSignal,
  ): Promise<string[]> {
    const { owner } = wanted;
    const { realm } = wanted.names;
    const there = found ?? (await this.#create(realm, owner, signal));
    if (there === undefined) return ["createRealm"];
    claimRealm(there, wanted);
    const changes: string[] = [];
    const before = markOf(there);
    if (before?.isRetained === true || !isOwnedBy(before?.owner, owner)) {
      await this.#mark("ownRealm", there, { owner, isRetained: false }, signal);
      changes.push("ownRealm");
    }
    const differing = differences({ enabled: true }, there);
    if (!isNone(differing)) {
      await this.#keycloak.call(
        { name: "updateRealm", realm },
        (api) => api.realms.update({ realm }, differing),
        signal,
      );
      changes.push("updateRealm");
    }
    return changes;
  }

  /** Undefined once it is made; the realm where somebody was faster, perhaps we ourselves and nobody heard the answer. */
  async #create(realm: string, owner: Owner, signal: AbortSignal): Promise<Realm | undefined> {
    const made: Realm = {
      realm,
      enabled: true,
      registrationAllowed: false,
      loginWithEmailAllowed: true,
      attributes: withMark({ owner, isRetained: false }),
    };
    try {
      await this.#keycloak.call(
        { name: "createRealm", realm },
        (api) => api.realms.create(made),
        signal,
      );
      return undefined;
    } catch (error) {
      if (isUnanswered(error)) this.#unanswered.set(realm, this.#clock.monotonic());
      if (!isTaken(error)) throw error;
      const there = await this.#find(realm, signal);
      if (there !== undefined) return there;
      // Perhaps by a call of our own that took longer than we waited: whose it is will be seen.
      throw new StepError("Unreachable", `realm ${realm} is being made, and cannot be read yet`);
    }
  }

  async #ensureClient(
    { names: { realm, client: clientId }, urls }: RealmWanted,
    signal: AbortSignal,
  ): Promise<string[]> {
    const [found] = await this.#keycloak.call(
      { name: "findClient", realm },
      (api) => api.clients.find({ realm, clientId }),
      signal,
    );
    const desired = clientFields(urls);
    if (found === undefined) {
      await this.#keycloak.call(
        { name: "createClient", realm },
        (api) => api.clients.create({ realm, clientId, ...desired }),
        signal,
      );
      return ["createClient"];
    }
    const differing = differences(desired, found);
    if (isNone(differing)) return [];
    await this.#keycloak.call(
      { name: "updateClient", realm },
      (api) => api.clients.update({ realm, id: found.id ?? "" }, { clientId, ...differing }),
      signal,
    );
    return ["updateClient"];
  }

  /** The whole realm is sent: of attributes those stay that are named, and Keycloak keeps much of a realm in them. */
  async #mark(name: string, found: Realm, mark: Mark, signal: AbortSignal): Promise<void> {
    const { realm = "", attributes } = found;
    await this.#keycloak.call(
      { name, realm },
      (api) => api.realms.update({ realm }, { ...found, attributes: withMark(mark, attributes) }),
      signal,
    );
  }

  async #delete(realm: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#keycloak.call(
        { name: "deleteRealm", realm },
        (api) => api.realms.del({ realm }),
        signal,
      );
    } catch (error) {
      if (!isNoRealm(error)) throw error;
    }
  }

  /** What the ledger names, if it is there and its owner's. */
  async #findOwned(
    { realm, state }: { readonly realm: string; readonly state: Owned["state"] },
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Realm | undefined> {
    const found = await this.#find(realm, signal);
    const givenUpMs = this.#unanswered.get(realm);
    if (found === undefined && givenUpMs !== undefined) {
      // Keycloak may still be at it: once forgotten, nobody would look for it again.
      if (this.#clock.monotonic() - givenUpMs < this.#unansweredMs) {
        const message = `the creation of realm ${realm} was not answered: it may still come to be, and is waited for`;
        throw new StepError("Unreachable", message);
      }
    } else if (found === undefined && state === "Creating") this.#settling.miss(`realm ${realm}`);
    this.#settling.end(`realm ${realm}`);
    return found !== undefined && isOwnedBy(markOf(found)?.owner, owner) ? found : undefined;
  }

  async #find(realm: string, signal: AbortSignal): Promise<Realm | undefined> {
    return await this.#keycloak.call(
      { name: "findRealm", realm },
      async (api) => {
        try {
          // The library would take any 404 for an answer.
          return await api.realms.findOne({ realm }, { catchNotFound: false });
        } catch (error) {
          if (isNoRealm(error)) return undefined;
          throw error;
        }
      },
      signal,
    );
  }
}

function claimRealm(found: Realm, { names, owner, adopts }: RealmWanted): void {
  claim({ what: `realm ${names.realm}`, mark: markOf(found) }, owner, { adopts });
}
