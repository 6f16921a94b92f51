// The comment on a schema or a role that says whose it is.

import type { Mark } from "../ownership/claim.ts";
import { ownerKey, ownerText, parseOwner, retainedKey, type Owner } from "../ownership/owner.ts";

const retained = ` ${retainedKey}`;
const inPart = " platform.internal/removed-in-part";
export const takenInPart = " platform.internal/taken-in-part";

export function ownerComment({ owner, isRetained }: Mark): string {
  return `${ownerKey} ${ownerText(owner)}${isRetained ? retained : ""}`;
}

/** For a schema that loses what is in it, or its app's large objects, while its roles are still there. */
export function removedInPartComment(owner: Owner): string {
  return ownerComment({ owner, isRetained: false }) + inPart;
}

/** For a schema of which some is its app's by now, and the rest the administrator's still. */
export function takenInPartComment(owner: Owner): string {
  return ownerComment({ owner, isRetained: false }) + takenInPart;
}

export function isRemovedInPart(comment: string | null | undefined): boolean {
  return comment?.endsWith(inPart) === true;
}

/** Undefined for what nobody of ours has written. */
export function parseOwnerComment(comment: string | null): Mark | undefined {
  const mark = [retained, inPart, takenInPart].find((one) => comment?.endsWith(one)) ?? "";
  const text = comment?.slice(0, comment.length - mark.length);
  if (text?.startsWith(`${ownerKey} `) !== true) return undefined;
  const owner = parseOwner(text.slice(ownerKey.length + 1));
  return owner === undefined ? undefined : { owner, isRetained: mark === retained };
}
