// What is asked of targets: whether the caller may, what is wrong with it, and the write that it comes to.

import type { Identity, Json } from "@keelson/base";
import type { Database, Transaction } from "@keelson/database";
import { requireCluster, requireRole } from "../resources/permissions.ts";
import { Fields } from "../resources/read-fields.ts";
import { lockTarget, readTarget, type HeldTargetRow, type TargetRow } from "../sql/targets.ts";
import type { Deed } from "../sender.ts";
import { byAgent, sentAccess, type Reached, type TargetAccess } from "./target-access.ts";
import { readNewTarget, readTargetChange } from "./target-body.ts";
import { isReachedAlike, isRelabelled, keepsLabels, visibleTarget } from "./target-rows.ts";
import { changeTarget, createTarget, removeTarget } from "./write-targets.ts";

export type WrittenTarget = TargetRow | "gone" | "moved";

/** A write that was read and not yet made. */
export interface TargetRequest<Written extends WrittenTarget = WrittenTarget> {
  readonly clusterId: string;
  /** How the target is reached then; what is missing stays. */
  readonly reached: Partial<Reached>;
  readonly isOrphaning: boolean;
  /**
   * Makes it, in a transaction that was begun with `beginWrite`. Answers the target as it is then; `gone` without one; and
   * `moved`, with nothing written, if another has changed how it is reached: then the request must be read again.
   * `onWritten` is told of a write, and of nothing that changes nothing. It is not committed yet.
   */
  write(sql: Transaction, onWritten?: (deed: Deed) => void): Promise<Written>;
}

/** Only for admins. Throws a `RestError` for whatever the caller is refused. */
export class TargetRequests {
  readonly #database: Database;
  readonly #access: TargetAccess;

  constructor({
    database,
    access,
  }: {
    readonly database: Database;
    readonly access: TargetAccess;
  }) {
    this.#database = database;
    this.#access = access;
  }

  async create(identity: Identity, body: Json | undefined): Promise<TargetRequest<TargetRow>> {
    requireRole(identity, "admin");
    const fields = new Fields(body);
    const { clusterId, kubeconfig, context, labels = {}, paused = false } = readNewTarget(fields);
    requireCluster(identity, clusterId);
    const reached =
      kubeconfig === undefined
        ? byAgent
        : await this.#access.sealed(clusterId, sentAccess(kubeconfig, context), fields);
    return {
      clusterId,
      reached,
      isOrphaning: false,
      write: async (sql, onWritten) => {
        const made = await createTarget(sql, { clusterId, ...reached, labels, paused });
        onWritten?.("created");
        return made;
      },
    };
  }

  async replace(
    identity: Identity,
    clusterId: string,
    body: Json | undefined,
    signal: AbortSignal,
  ): Promise<TargetRequest<TargetRow | "moved">> {
    requireRole(identity, "admin");
    const fields = new Fields(body);
    const asked = readTargetChange(fields, clusterId);
    const { labels, paused } = asked;
    // A kubeconfig is read outside of the transaction, and from what was there a moment ago.
    const before = await this.#find(identity, clusterId, signal);
    const reached = await this.#access.reachedAfter(before, asked, fields);
    return {
      clusterId,
      reached,
      isOrphaning: false,
      write: async (sql, onWritten) => {
        const [row] = await sql.run(lockTarget, clusterId);
        const target = visibleTarget(identity, row);
        if (!isReachedAlike(target, before)) return "moved";
        if (target.is_deleting && isRelabelled(target, labels)) throw keepsLabels(clusterId);
        const changed = await changeTarget(sql, target, { labels, paused, ...reached });
        if (changed !== target) onWritten?.("updated");
        return changed;
      },
    };
  }

  async delete(
    identity: Identity,
    { clusterId, isOrphaning }: { readonly clusterId: string; readonly isOrphaning: boolean },
  ): Promise<TargetRequest<TargetRow | "gone">> {
    requireRole(identity, "admin");
    return {
      clusterId,
      reached: {},
      isOrphaning,
      write: async (sql, onWritten) => {
        const [row] = await sql.run(lockTarget, clusterId);
        const { is_deleting: wasDeleting } = visibleTarget(identity, row);
        const left = await removeTarget(sql, { clusterId, isOrphaning });
        if (left === "gone" || !wasDeleting) onWritten?.(isOrphaning ? "forgotten" : "deleted");
        return left;
      },
    };
  }

  async #find(identity: Identity, clusterId: string, signal: AbortSignal): Promise<HeldTargetRow> {
    const rows = await this.#database.run(readTarget, clusterId, signal);
    return visibleTarget(identity, rows[0]);
  }
}
