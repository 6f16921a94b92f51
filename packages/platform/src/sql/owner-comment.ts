// The comment on a schema or a role that says whose it is.

import type { Mark } from "../ownership/claim.ts";
import { ownerKey, ownerText, parseOwner, retainedKey } from "../ownership/owner.ts";

export function ownerComment({ owner, isRetained }: Mark): string {
  return `${ownerKey} ${ownerText(owner)}${isRetained ? ` ${retainedKey}` : ""}`;
}

/** Undefined for what nobody of ours has written. */
export function parseOwnerComment(comment: string | null): Mark | undefined {
  const mark = ` ${retainedKey}`;
  const isRetained = comment?.endsWith(mark) === true;
  const text = isRetained ? comment?.slice(0, -mark.length) : comment;
  if (text?.startsWith(`${ownerKey} `) !== true) return undefined;
  const owner = parseOwner(text.slice(ownerKey.length + 1));
  return owner === undefined ? undefined : { owner, isRetained };
}
