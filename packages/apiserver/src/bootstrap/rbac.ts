// The roles and bindings that every cluster has (KB 2.1), made at the first start and completed at each.

import { readFile } from "node:fs/promises";

import { isJsonArray, isJsonObject, readJson, type JsonObject, type Log } from "@keelson/base";
import { StatusError, type StatusReason } from "@keelson/kube";

import { uidOf } from "../object-metadata.ts";
import { objectAt, textAt } from "../fields.ts";
import type { RbacKind } from "../auth/rbac/rbac-rules.ts";
import { reconcileBinding, reconcileRole } from "./rbac-reconcile.ts";

export interface RbacKey {
  readonly kind: RbacKind;
  /** Empty for cluster roles and their bindings. */
  readonly namespace: string;
  readonly name: string;
}

/** Where the objects are kept; writes go through the same rules as everybody's. Failures are `StatusError`s. */
export interface RbacObjects {
  find(key: RbacKey, signal: AbortSignal): Promise<JsonObject | undefined>;
  create(key: RbacKey, object: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Replaces an object that `find` answered, unless it has changed since. */
  update(key: RbacKey, object: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Deletes the object of that uid. */
  delete(key: RbacKey & { readonly uid: string }, signal: AbortSignal): Promise<unknown>;
}

/** The objects as a new cluster has them: extracted from the pinned kube-apiserver, in the order of their making. */
export async function bootstrapRbacObjects(): Promise<readonly JsonObject[]> {
  const data = readJson(await readFile(new URL("./data/rbac.json", import.meta.url), "utf8"));
  const objects = isJsonArray(data) ? data.filter((object) => isJsonObject(object)) : [];
  return objects.map((object) => ({ apiVersion: "rbac.authorization.k8s.io/v1", ...object }));
}

/**
 * Makes what is missing, and adds what is missing of the rest. One that fails does not keep the others: what went
 * wrong is thrown together at the end, and calling it again goes on from there.
 */
export async function ensureBootstrapRbac(
  { objects, log }: { readonly objects: RbacObjects; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const failures: Error[] = [];
  // All at once: they share a few commits instead of waiting for one each.
  const attempts = (await bootstrapRbacObjects()).map(async (expected) => {
    const key = keyOf(expected);
    try {
      await ensure({ objects, log }, key, expected, signal);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(new Error(`${key.kind} ${key.name} could not be made`, { cause: error }));
    }
  });
  await Promise.all(attempts);
  if (failures.length > 0) throw new AggregateError(failures, "some roles could not be made");
}

/** Another process may do the same at the same time. */
const attemptsMax = 4;
const passing: ReadonlySet<StatusReason> = new Set(["AlreadyExists", "NotFound", "Conflict"]);

async function ensure(
  { objects, log }: { readonly objects: RbacObjects; readonly log: Log },
  key: RbacKey,
  expected: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const existing = await objects.find(key, signal);
    const isBinding = key.kind === "RoleBinding" || key.kind === "ClusterRoleBinding";
    const reconciled = (isBinding ? reconcileBinding : reconcileRole)(existing, expected);
    if (reconciled.action === "none") return;
    const { action, object } = reconciled;
    try {
      if (action === "recreate" && existing !== undefined) {
        const uid = uidOf(existing);
        await objects.delete({ ...key, uid }, signal);
      }
      if (action === "update") await objects.update(key, object, signal);
      else await objects.create(key, object, signal);
      log.debug({ action, ...key }, "completed a bootstrap role or binding");
      return;
    } catch (error) {
      const reason = error instanceof StatusError ? error.status.reason : undefined;
      if (reason === undefined || !passing.has(reason) || attempt === attemptsMax) throw error;
    }
  }
}

function keyOf(object: JsonObject): RbacKey {
  const metadata = objectAt(object, "metadata");
  // The data is ours: its kinds are the four.
  const kind = textAt(object, "kind") as RbacKind;
  return { kind, namespace: textAt(metadata, "namespace"), name: textAt(metadata, "name") };
}
