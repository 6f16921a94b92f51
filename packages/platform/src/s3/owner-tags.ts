// The tags on a bucket that say whose it is. Other tags are others'.

import type { Mark } from "../ownership/claim.ts";
import { ownerKey, ownerText, parseOwner, retainedKey } from "../ownership/owner.ts";
import { StepError } from "../steps/step-error.ts";

export interface Tag {
  readonly Key: string;
  readonly Value: string;
}

const valueCharsMax = 256;

/** The tags of a bucket that is marked so, in place of those it has. Throws a `StepError` for an owner too long for a tag. */
export function markedTags(tags: readonly Tag[], { owner, isRetained }: Mark): Tag[] {
  const value = ownerText(owner);
  if (value.length > valueCharsMax) {
    throw new StepError(
      "InvalidSpec",
      `the tag with the owner ${owner.namespace}/${owner.name} would have ${value.length} characters, ${value.length - valueCharsMax} more than a bucket takes: choose a shorter name`,
    );
  }
  // The store's own cannot be written; they stay without that.
  const others = tags.filter(
    ({ Key }) => Key !== ownerKey && Key !== retainedKey && !Key.startsWith("aws:"),
  );
  const retained = isRetained ? [{ Key: retainedKey, Value: "true" }] : [];
  return [...others, { Key: ownerKey, Value: value }, ...retained];
}

/** Undefined for a bucket that nobody of ours has marked. */
export function parseTags(tags: readonly Tag[]): Mark | undefined {
  const valueOf = (key: string) => tags.find(({ Key }) => Key === key)?.Value;
  const owner = parseOwner(valueOf(ownerKey));
  return owner === undefined ? undefined : { owner, isRetained: valueOf(retainedKey) === "true" };
}
