// The versions of reviews that a webhook understands, the best first.

import { dns1035LabelProblems } from "../../../object/names.ts";
import type { Place } from "../place.ts";

export const reviewVersions: readonly string[] = ["v1", "v1beta1"];

/** Whether one of the versions is known. */
export function knowsReview(versions: readonly string[]): boolean {
  return versions.some((version) => reviewVersions.includes(version));
}

/** Reports versions that are none or come twice; that none is known only if one must be. */
export function checkReviewVersions(
  versions: readonly string[],
  at: Place,
  { needsKnownReview }: { readonly needsKnownReview: boolean },
): void {
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) {
      at.item(index).invalid(version, "duplicate version");
      continue;
    }
    seen.add(version);
    at.item(index).invalidEach(version, dns1035LabelProblems(version));
  }
  if (needsKnownReview && !knowsReview(versions)) {
    at.invalid(versions, `must include at least one of ${reviewVersions.join(", ")}`);
  }
}
