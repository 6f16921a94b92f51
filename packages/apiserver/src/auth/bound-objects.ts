// What a ServiceAccount token is bound to must still be there.

import type { JsonObject } from "@keelson/base";
import { failures, memberOf, parseTime } from "@keelson/kube";

import { type Store } from "@keelson/store";

import { findRow } from "../find-row.ts";
import { metadataText, uidOf } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { objectAt, textAt } from "../fields.ts";

export type BoundKind = "ServiceAccount" | "Pod" | "Secret" | "Node";

export interface BoundKey {
  readonly kind: BoundKind;
  /** Empty for a Node. */
  readonly namespace: string;
  readonly name: string;
}

/** Where the objects are: as they are now, or a moment ago. */
export interface BoundObjects {
  find(
    key: BoundKey,
    signal: AbortSignal,
  ): JsonObject | undefined | Promise<JsonObject | undefined>;
}

/** Accounts from memory, the rest as it is stored now. */
export function storedBoundObjects(
  store: Store,
  serviceAccounts: Pick<Mirror, "get">,
): BoundObjects {
  return {
    find: ({ kind, namespace, name }, signal) => {
      const mirrored = kind === "ServiceAccount" ? serviceAccounts.get(namespace, name) : undefined;
      if (mirrored !== undefined) return mirrored.object;
      return findRow(store, { kind, namespace, name }, signal).then((row) => row?.body.value);
    },
  };
}

interface Check {
  readonly objects: BoundObjects;
  readonly nowMs: number;
}

/** Throws `BadCredentials` unless all that the claim names is there, the same as then, and not deleted for a minute. */
export async function checkBoundObjects(
  claim: JsonObject,
  { objects, nowMs }: Check,
  signal: AbortSignal,
): Promise<void> {
  const namespace = textAt(claim, "namespace");
  const account = objectAt(claim, "serviceaccount");
  const name = textAt(account, "name");
  const found = await objects.find({ kind: "ServiceAccount", namespace, name }, signal);
  if (found === undefined) {
    const missing = failures.notFound({ group: "", resource: "serviceaccounts" }, name);
    throw new BadCredentials(missing.message);
  }
  const uid = uidOf(found);
  if (uid !== textAt(account, "uid")) {
    const claimed = textAt(account, "uid");
    throw new BadCredentials(`service account UID (${uid}) does not match claim (${claimed})`);
  }
  if (isGone(found, nowMs)) {
    throw new BadCredentials(`service account ${namespace}/${name} has been deleted`);
  }
  for (const { kind, member, isNamespaced } of bindings) {
    // The node of a pod is told, not checked: the pod's life decides.
    if (memberOf(claim, member) === undefined || (kind === "Node" && hasPod(claim))) continue;
    const reference = objectAt(claim, member);
    const key = { kind, namespace: isNamespaced ? namespace : "", name: textAt(reference, "name") };
    const object = await objects.find(key, signal);
    checkReference(object, { reference, kind, nowMs });
  }
}

const bindings: readonly {
  readonly kind: Exclude<BoundKind, "ServiceAccount">;
  readonly member: string;
  readonly isNamespaced: boolean;
}[] = [
  { kind: "Secret", member: "secret", isNamespaced: true },
  { kind: "Pod", member: "pod", isNamespaced: true },
  { kind: "Node", member: "node", isNamespaced: false },
];

/** What was deleted before this long ago no longer counts. */
const graceMs = 60_000;

function checkReference(
  object: JsonObject | undefined,
  { reference, kind, nowMs }: { reference: JsonObject; kind: BoundKind; nowMs: number },
): void {
  const invalidated = "service account token has been invalidated";
  if (object === undefined) throw new BadCredentials(invalidated);
  const [uid, claimed] = [uidOf(object), textAt(reference, "uid")];
  if (uid !== claimed) {
    const word = kind.toLowerCase();
    throw new BadCredentials(
      `${word} UID (${uid}) does not match service account ${word} ref claim (${claimed})`,
    );
  }
  if (isGone(object, nowMs)) throw new BadCredentials(invalidated);
}

function hasPod(claim: JsonObject): boolean {
  return memberOf(claim, "pod") !== undefined;
}

function isGone(object: JsonObject, nowMs: number): boolean {
  const deletedAt = metadataText(object, "deletionTimestamp");
  return deletedAt !== "" && parseTime(deletedAt).seconds * 1000 < nowMs - graceMs;
}
