// What a delivery and a trial of one judge alike: where an object is, whose it is, and what may be told of a refusal.

import type { DynamicObject, ObjectRef, ResourceClient } from "@keelson/client";
import { StatusError } from "@keelson/kube";
import type { Resource } from "../resources/resource.ts";
import { WrongScope, type ResourceFailure } from "./failure.ts";
import { markedRow } from "./mark.ts";

export function refOf({ name, namespace }: Resource, { resource }: ResourceClient): ObjectRef {
  return resource.isNamespaced ? { name, namespace } : { name };
}

/** Ours by its uid; or by our mark and our hand, where we could not record it any more. */
export function isOurs(
  object: DynamicObject,
  { resource, uid }: { readonly resource: Resource; readonly uid: string | undefined },
): boolean {
  return object.metadata.uid === uid || markedRow(object) === resource.id;
}

/** A cluster's word about where a kind lives is the last. */
export function checkScope({ kind, namespace }: Resource, { resource }: ResourceClient): void {
  if (resource.isNamespaced && namespace === "") {
    throw new WrongScope(`${kind} lives in namespaces here: give it one`);
  }
  if (!resource.isNamespaced && namespace !== "") {
    throw new WrongScope(`${kind} lives in no namespace here: write it without one`);
  }
}

/** A field that another owns, as a refused apply names it. An alias, not an interface: only so is it JSON to the compiler. */
export type FieldConflict = { readonly field: string; readonly manager: string };

export function conflictsOf(error: unknown): readonly FieldConflict[] {
  if (!(error instanceof StatusError) || error.status.code !== 409) return [];
  return (error.status.details?.causes ?? []).flatMap(({ reason, field, message }) => {
    if (reason !== "FieldManagerConflict") return [];
    const manager = /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message ?? "")?.[1] ?? "";
    return [{ field: field ?? "", manager }];
  });
}

/** A refusal of a Secret may quote what is in it: only the fields are told, and who else owns them. */
export function withoutValues(
  failure: ResourceFailure,
  { kind }: Resource,
  error: unknown,
): ResourceFailure {
  if (kind !== "Secret" || !(error instanceof StatusError)) return failure;
  const { reason = "refused", details } = error.status;
  const conflicts = conflictsOf(error).map(({ field, manager }) => `${field} of ${manager}`);
  const fields = (details?.causes ?? []).flatMap(({ field }) =>
    field === undefined ? [] : [field],
  );
  const told = conflicts.length > 0 ? conflicts : fields;
  const where = told.length === 0 ? "" : `: ${told.join(", ")}`;
  return { ...failure, message: `the cluster refused the Secret (${reason})${where}` };
}
