// What the API does with targets, and how the process registers its own.

import type { Clock, Identity, Json, JsonObject, Log } from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import { requireRole } from "../resources/permissions.ts";
import { Fields } from "../resources/read-fields.ts";
import { transact } from "../resources/transact.ts";
import { findTarget, insertTarget, listTargets, lockTarget } from "../sql/targets.ts";
import { logTarget, type Sender } from "../sender.ts";
import type { WorkBell } from "../work-bell.ts";
import type { CredentialCipher } from "./credential-cipher.ts";
import type { StoredAccess } from "./stored-access.ts";
import { TargetAccess, type Reached } from "./target-access.ts";
import { TargetRequests, type TargetRequest, type WrittenTarget } from "./target-requests.ts";
import { cursorAfter, shownTarget, visibleTarget } from "./target-rows.ts";
import { beginWrite, changeTarget } from "./write-targets.ts";

export interface TargetsOptions {
  readonly database: Database;
  readonly cipher: CredentialCipher;
  readonly bell: WorkBell;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TargetPage {
  /** The last id of the page before. */
  readonly after: string;
  readonly limit: number;
}

/** Only for admins. Every method takes the caller, and throws a `RestError` for whatever the caller is refused. */
export class Targets {
  readonly #options: TargetsOptions;
  readonly #access: TargetAccess;
  readonly #requests: TargetRequests;

  constructor(options: TargetsOptions) {
    const { database } = options;
    this.#options = options;
    this.#access = new TargetAccess(options);
    this.#requests = new TargetRequests({ database, access: this.#access });
  }

  async create(sender: Sender, body: Json | undefined, signal: AbortSignal): Promise<JsonObject> {
    const request = await this.#requests.create(sender, body);
    const row = await this.#make(sender, request, signal);
    return shownTarget(row);
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
    sender: Sender,
    clusterId: string,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    for (;;) {
      const request = await this.#requests.replace(sender, clusterId, body, signal);
      const row = await this.#make(sender, request, signal);
      if (row !== "moved") return shownTarget(row);
    }
  }

  /** `gone`, or `leaving` while copies of global resources are deleted first. */
  async delete(
    sender: Sender,
    at: { readonly clusterId: string; readonly isOrphaning: boolean },
    signal: AbortSignal,
  ): Promise<"gone" | "leaving"> {
    const request = await this.#requests.delete(sender, at);
    const row = await this.#make(sender, request, signal);
    return row === "gone" ? "gone" : "leaving";
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
    const access = "access" in how ? how.access : undefined;
    const reached: Reached =
      access === undefined
        ? {
            credential: null,
            inProcess: "inProcess" in how,
            agent: "agent" in how,
            server: "server" in how ? how.server : null,
          }
        : await this.#access.sealed(clusterId, access, new Fields({}));
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
        const same = access !== undefined && this.#access.holds(row, access);
        const kept = same ? { ...reached, credential: row.credential } : reached;
        await changeTarget(sql, row, { labels, paused, ...kept });
        return true;
      },
      signal,
    );
  }

  /** Each write that is asked for leaves a line in the log. */
  async #make<Written extends WrittenTarget>(
    sender: Sender,
    request: TargetRequest<Written>,
    signal: AbortSignal,
  ): Promise<Written> {
    const { log } = this.#options;
    return this.#write(
      sender.user,
      (sql) =>
        request.write(sql, (deed) => logTarget({ log, sender, sql }, request.clusterId, deed)),
      signal,
    );
  }

  async #write<T>(
    actor: string,
    work: (sql: Transaction) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return transact(
      this.#options,
      async (sql) => {
        await beginWrite(sql, actor);
        return work(sql);
      },
      signal,
    );
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
