// The comment on a schema or a role that says whose it is.

import {
  isOwnedBy,
  ownerKey,
  ownerText,
  parseOwner,
  retainedKey,
  type Owner,
} from "../ownership/owner.ts";
import { StepError } from "../steps/step-error.ts";

export interface Marked {
  readonly owner: Owner;
  /** Its owner is gone, or wants it no longer, and it was kept. */
  readonly isRetained: boolean;
}

export function ownerComment({ owner, isRetained }: Marked): string {
  return `${ownerKey} ${ownerText(owner)}${isRetained ? ` ${retainedKey}` : ""}`;
}

/** Undefined for what nobody of ours has written. */
export function parseOwnerComment(comment: string | null): Marked | undefined {
  const mark = ` ${retainedKey}`;
  const isRetained = comment?.endsWith(mark) === true;
  const text = isRetained ? comment?.slice(0, -mark.length) : comment;
  if (text?.startsWith(`${ownerKey} `) !== true) return undefined;
  const owner = parseOwner(text.slice(ownerKey.length + 1));
  return owner === undefined ? undefined : { owner, isRetained };
}

/** `schema prod_my_app`, and what its comment says. */
export interface Found {
  readonly what: string;
  readonly comment: string | null;
}

/** Throws a Conflict for what is not `owner`'s, and may not become so either. */
export function claim(found: Found, owner: Owner, { adopts }: { readonly adopts: boolean }): void {
  const marked = parseOwnerComment(found.comment);
  if (marked === undefined) {
    throw new StepError("Conflict", `${found.what} exists and belongs to no app of ours`);
  }
  const { owner: other, isRetained } = marked;
  if (isOwnedBy(other, owner)) return;
  const isNamesake = other.namespace === owner.namespace && other.name === owner.name;
  if (isRetained && isNamesake && adopts) return;
  const whose = `${found.what} belongs to ${other.namespace}/${other.name} (uid ${other.uid})`;
  if (!isRetained) throw new StepError("Conflict", whose);
  const way = isNamesake
    ? 'annotate this one with platform.internal/adopt: "true" to take it over'
    : "only an Application of that namespace and name can take it over";
  throw new StepError("Conflict", `${whose}, which is gone and left it behind: ${way}`);
}
