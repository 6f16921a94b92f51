// What the API does with targets, and how the process registers its own.

import {
  RestError,
  validationFailed,
  type Clock,
  type Identity,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import { requireCluster, requireRole } from "../resources/permissions.ts";
import { Fields } from "../resources/read-fields.ts";
import { holdGlobals } from "../sql/globals.ts";
import { writeAs } from "../sql/resources.ts";
import {
  countOwn,
  deleteTarget,
  findTarget,
  forgetTarget,
  insertTarget,
  listTargets,
  lockTarget,
  readTarget,
  updateTarget,
  type HeldTargetRow,
  type TargetRow,
  type TargetState,
} from "../sql/targets.ts";
import type { WorkBell } from "../work-bell.ts";
import type { CredentialCipher } from "./credential-cipher.ts";
import { openAccess, sealAccess, type StoredAccess } from "./stored-access.ts";
import {
  cursorAfter,
  inUse,
  isReachedAlike,
  isSameState,
  shownTarget,
  stateOf,
  visibleTarget,
} from "./target-rows.ts";
import { readNewTarget, readTargetChange, serverOf, type TargetBody } from "./target-body.ts";

export interface TargetsOptions {
  readonly database: Database;
  readonly cipher: CredentialCipher;
  readonly bell: WorkBell;
  readonly clock: Clock;
}

export interface TargetPage {
  /** The last id of the page before. */
  readonly after: string;
  readonly limit: number;
}

/** How a target is reached, as a row says it, and where that leads. */
type Reached = Pick<TargetState, "credential" | "inProcess" | "agent" | "server">;

/** Only for admins. Every method takes the caller, and throws a `RestError` for whatever the caller is refused. */
export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  async create(
    identity: Identity,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "admin");
    const fields = new Fields(body);
    const wanted = readNewTarget(fields);
    const { clusterId, kubeconfig, context, labels = {}, paused = false } = wanted;
    requireCluster(identity, clusterId);
    const reached: Reached =
      kubeconfig === undefined
        ? { credential: null, inProcess: false, agent: true, server: null }
        : await this.#sealed(clusterId, sent(kubeconfig, context), fields);
    return await this.#write(
      identity.user,
      async (sql) => {
        const [row] = await sql.run(insertTarget, { clusterId, ...reached, labels, paused });
        if (row !== undefined) return shownTarget(row);
        throw new RestError("TARGET_EXISTS", `there is a target ${clusterId} already`);
      },
      signal,
    );
  }

  async get(identity: Identity, clusterId: string, signal: AbortSignal): Promise<JsonObject> {
    requireRole(identity, "admin");
    const [row] = await this.#options.database.run(findTarget, clusterId, signal);
    return shownTarget(visibleTarget(identity, row));
  }

  async list(
    identity: Identity,
    { after, limit }: TargetPage,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "admin");
    const clusters = identity.clusters === "all" ? null : [...identity.clusters];
    const asked = { after, limit: limit + 1, clusters };
    const rows = await this.#options.database.run(listTargets, asked, signal);
    const page = rows.slice(0, limit);
    const last = page.at(-1)?.cluster_id;
    return {
      targets: page.map(shownTarget),
      next: rows.length > limit && last !== undefined ? cursorAfter(last) : null,
    };
  }

  /** Replaces what the body carries; nothing is written where nothing would change. */
  async replace(
    identity: Identity,
    clusterId: string,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireRole(identity, "admin");
    const fields = new Fields(body);
    const asked = readTargetChange(fields, clusterId);
    const { labels, paused } = asked;
    for (;;) {
      const before = await this.#find(identity, clusterId, signal);
      // A kubeconfig is read outside of the transaction, and from what was there a moment ago.
      const reached = await this.#reachedAfter(before, asked, fields);
      const answer = await this.#write(
        identity.user,
        async (sql) => {
          const [row] = await sql.run(lockTarget, clusterId);
          const target = visibleTarget(identity, row);
          if (!isReachedAlike(target, before)) return undefined;
          return shownTarget(await this.#update(sql, target, { labels, paused, ...reached }));
        },
        signal,
      );
      if (answer !== undefined) return answer;
    }
  }

  /** `gone`, or `leaving` while copies of global resources are deleted first. */
  async delete(
    identity: Identity,
    { clusterId, isOrphaning }: { readonly clusterId: string; readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<"gone" | "leaving"> {
    requireRole(identity, "admin");
    return await this.#write(
      identity.user,
      async (sql) => {
        const [row] = await sql.run(lockTarget, clusterId);
        visibleTarget(identity, row);
        if (isOrphaning) {
          await sql.run(forgetTarget, clusterId);
          return "gone";
        }
        const [count] = await sql.run(countOwn, clusterId);
        if (count !== undefined && count.own > 0) throw inUse(clusterId, count.own);
        await sql.run(deleteTarget, clusterId);
        const [left] = await sql.run(findTarget, clusterId);
        return left === undefined ? "gone" : "leaving";
      },
      signal,
    );
  }

  /**
   * Registers a target of the process's own: its server, the cluster that it runs in, or one of its configuration. What
   * others have decided of one that is there, its labels and whether it is paused, stays unless it is given here. False: a
   * target of that id has a credential, and only whoever gave it can say that a worker inside serves it from now on.
   */
  async register(
    { clusterId, labels, paused, ...how }: Registration,
    signal: AbortSignal,
  ): Promise<boolean> {
    const fields = new Fields({});
    const access = "access" in how ? how.access : undefined;
    const reached: Reached =
      access === undefined
        ? {
            credential: null,
            inProcess: "inProcess" in how,
            agent: "agent" in how,
            server: "server" in how ? how.server : null,
          }
        : await this.#sealed(clusterId, access, fields);
    return await this.#write(
      "keelson",
      async (sql) => {
        const [row] = await sql.run(lockTarget, clusterId);
        if (row === undefined) {
          const usual = { labels: labels ?? {}, paused: paused ?? false };
          // Another replica may be first: it says the same.
          await sql.run(insertTarget, { clusterId, ...reached, ...usual });
          return true;
        }
        if (reached.agent && !row.agent) return false;
        const same = access !== undefined && this.#holds(row, access);
        const kept = same ? { ...reached, credential: row.credential } : reached;
        await this.#update(sql, row, { labels, paused, ...kept });
        return true;
      },
      signal,
    );
  }

  async #find(identity: Identity, clusterId: string, signal: AbortSignal): Promise<HeldTargetRow> {
    const rows = await this.#options.database.run(readTarget, clusterId, signal);
    const target = visibleTarget(identity, rows[0]);
    if (!target.is_deleting) return target;
    throw new RestError("RESOURCE_DELETING", `target ${clusterId} is being deleted`);
  }

  async #update(
    sql: Transaction,
    target: HeldTargetRow,
    change: Partial<Reached> & Partial<Pick<TargetBody, "labels" | "paused">>,
  ): Promise<TargetRow> {
    const before = stateOf(target);
    const after: TargetState = {
      clusterId: before.clusterId,
      credential: change.credential === undefined ? before.credential : change.credential,
      inProcess: change.inProcess ?? before.inProcess,
      agent: change.agent ?? before.agent,
      server: change.server === undefined ? before.server : change.server,
      labels: change.labels ?? before.labels,
      paused: change.paused ?? before.paused,
    };
    if (isSameState(before, after)) return target;
    const [row] = await sql.run(updateTarget, after);
    return row ?? target;
  }

  /** How the target is reached from here on; empty where that stays. */
  async #reachedAfter(
    target: HeldTargetRow,
    { kubeconfig, context, agent }: TargetBody,
    fields: Fields,
  ): Promise<Partial<Reached>> {
    if (kubeconfig === undefined && context === undefined && agent === undefined) return {};
    if (target.in_process) {
      const field =
        kubeconfig !== undefined ? "kubeconfig" : agent === undefined ? "context" : "agent";
      const message = "is of no use: the target is a server of keelson's own process";
      throw validationFailed({ field, message });
    }
    if (agent === true) {
      if (context !== undefined)
        throw validationFailed({ field: "context", message: "excludes agent" });
      return { credential: null, agent: true, ...(target.agent ? {} : { server: null }) };
    }
    const known = this.#known(target);
    if (kubeconfig === undefined && (known === undefined || agent === false)) {
      if (known !== undefined) return {};
      throw validationFailed({ field: "kubeconfig", message: "is required: the target has none" });
    }
    const access =
      kubeconfig === undefined && known !== undefined
        ? { ...known, context }
        : sent(kubeconfig ?? "", context);
    if (this.#holds(target, access)) return {};
    return await this.#sealed(target.cluster_id, access, fields);
  }

  /** What it holds now; undefined without a credential, or with one that our keys do not open. */
  #known({ cluster_id: clusterId, credential }: HeldTargetRow): StoredAccess | undefined {
    if (credential === null) return undefined;
    try {
      return openAccess(this.#options.cipher, clusterId, credential);
    } catch {
      return undefined;
    }
  }

  /** Whether the row holds just this access already, under the newest key. */
  #holds(row: HeldTargetRow, { source, context, trust }: StoredAccess): boolean {
    const known = this.#known(row);
    if (known === undefined || row.credential === null) return false;
    return (
      this.#options.cipher.isCurrent(row.credential) &&
      known.context === context &&
      known.trust === trust &&
      JSON.stringify(known.source) === JSON.stringify(source)
    );
  }

  async #sealed(clusterId: string, access: StoredAccess, fields: Fields): Promise<Reached> {
    const { cipher, clock } = this.#options;
    const server = await serverOf(access, fields, clock);
    const credential = sealAccess(cipher, clusterId, access);
    return { credential, inProcess: false, agent: false, server };
  }

  async #write<T>(
    actor: string,
    work: (sql: Transaction) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { database, bell } = this.#options;
    return await database.transaction(async (sql) => {
      sql.afterCommit(() => bell.ring());
      await sql.run(holdGlobals, undefined); // Before any row: copies follow what becomes of a target.
      await sql.run(writeAs, { actor, changeSet: undefined, keepsRevision: false });
      return await work(sql);
    }, signal);
  }
}

/** A target that the process itself knows of. */
export type Registration = {
  readonly clusterId: string;
  readonly labels?: JsonObject | undefined;
  readonly paused?: boolean | undefined;
} & (
  | { readonly inProcess: true; readonly server: string }
  | { readonly agent: true; readonly server: string }
  | { readonly access: StoredAccess }
);

function sent(text: string, context: string | undefined): StoredAccess {
  return { source: { text }, context, trust: "data" };
}
