// What would become of the copies of global resources: made out from how they were, and how they are in a write that is undone.

import { policies, type Policies, type Resource } from "../resources/resource.ts";
import type { Trial } from "../resources/try-on-target.ts";

/** What would become of a copy. */
export const copyOutcomes = ["created", "updated", "unchanged", "deleted", "forgotten"] as const;
type CopyOutcome = (typeof copyOutcomes)[number];

export type PlannedCopy = Trial & { readonly outcome: CopyOutcome };

/** In the order of their clusters. Those that were leaving already do nothing new. */
export function plannedCopies(
  before: readonly Resource[],
  after: readonly Resource[],
): readonly PlannedCopy[] {
  const former = new Map(before.map((copy) => [copy.id, copy]));
  const present = new Map(after.map((copy) => [copy.id, copy]));
  return [...new Map([...former, ...present]).values()]
    .filter(({ id }) => former.get(id)?.isDeleting !== true)
    .toSorted((one, other) => (one.clusterId < other.clusterId ? -1 : 1))
    .map((resource) => {
      // A copy that no worker has begun goes with the write itself.
      const isLeaving = resource.isDeleting || !present.has(resource.id);
      if (isLeaving) return { op: "delete", outcome: "deleted", resource };
      return { op: "apply", outcome: outcomeOf(former.get(resource.id), resource), resource };
    });
}

/** For when they are forgotten: nobody looks after them any more, and their objects stay. */
export function forgottenCopies(before: readonly Resource[]): readonly PlannedCopy[] {
  return before.map((resource) => ({ op: "forget", outcome: "forgotten", resource }));
}

function outcomeOf(former: Resource | undefined, copy: Resource): CopyOutcome {
  if (former === undefined) return "created";
  const isSame =
    former.generation === copy.generation &&
    former.paused === copy.paused &&
    Object.keys(policies).every(
      (name) => former[name as keyof Policies] === copy[name as keyof Policies],
    );
  return isSame ? "unchanged" : "updated";
}
