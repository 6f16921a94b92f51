// Writes of targets, in a transaction that the caller owns. Copies of global resources follow in the same one.

import { RestError } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import { holdGlobals } from "../sql/globals.ts";
import { writeAs } from "../sql/resources.ts";
import {
  countOwn,
  deleteTarget,
  findTarget,
  forgetTarget,
  insertTarget,
  updateTarget,
  type HeldTargetRow,
  type TargetRow,
  type TargetState,
} from "../sql/targets.ts";
import type { Reached } from "./target-access.ts";
import type { TargetBody } from "./target-body.ts";
import { inUse, isSameState, stateOf } from "./target-rows.ts";

/** What somebody wants changed; what is missing stays. */
export type TargetChange = Partial<Reached> & Partial<Pick<TargetBody, "labels" | "paused">>;

/** Comes first of all that is done in the transaction. */
export async function beginWrite(sql: Transaction, actor: string): Promise<void> {
  await sql.run(holdGlobals, undefined); // Before any row: copies follow what becomes of a target.
  await sql.run(writeAs, { actor, changeSet: undefined, keepsRevision: false });
}

/** Throws `TARGET_EXISTS`. */
export async function createTarget(sql: Transaction, state: TargetState): Promise<TargetRow> {
  const [row] = await sql.run(insertTarget, state);
  if (row !== undefined) return row;
  throw new RestError("TARGET_EXISTS", `there is a target ${state.clusterId} already`);
}

/** Changes a target that the transaction has locked. Where nothing would change nothing is written, and it is `target` itself. */
export async function changeTarget(
  sql: Transaction,
  target: HeldTargetRow,
  change: TargetChange,
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
  return row ?? target; // There is one: it is locked.
}

/**
 * Lets go of a target that the transaction has locked; a row while copies of global resources are deleted first. Throws
 * `TARGET_IN_USE`.
 */
export async function removeTarget(
  sql: Transaction,
  { clusterId, isOrphaning }: { readonly clusterId: string; readonly isOrphaning: boolean },
): Promise<TargetRow | "gone"> {
  if (isOrphaning) {
    await sql.run(forgetTarget, clusterId);
    return "gone";
  }
  const [count] = await sql.run(countOwn, clusterId);
  if (count !== undefined && count.own > 0) throw inUse(clusterId, count.own);
  await sql.run(deleteTarget, clusterId);
  const [left] = await sql.run(findTarget, clusterId);
  return left ?? "gone";
}
