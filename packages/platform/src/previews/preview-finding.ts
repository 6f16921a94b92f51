import type { Finding } from "../status/conditions.ts";

export interface PreviewFacts {
  /** It has no image of its own, and runs its parent's. */
  readonly hasParentImage: boolean;
  /** The variables that it goes without, as `sharedVariables` names them. */
  readonly leftOut: readonly string[];
}

/** So many are named: a list of all could be longer than a condition may be. */
const namedMax = 10;

function namedShortly(names: readonly string[]): string {
  const more = names.length - namedMax;
  const shown = names.slice(0, namedMax).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** What is to be said of a preview's pods that is not to be seen from them. It changes no status. */
export function previewFinding(
  finding: Finding,
  { hasParentImage, leftOut }: PreviewFacts,
): Finding {
  const runs = finding.reason !== "NoImage"; // Its parent may have none either.
  const notes = [
    ...(hasParentImage && runs ? ["it runs the image of its parent until it has one"] : []),
    ...(leftOut.length === 0
      ? []
      : [
          `it goes without ${namedShortly(leftOut)}: label what previews may have with platform.internal/preview=true`,
        ]),
  ];
  if (notes.length === 0) return finding;
  const isWell = finding.status === "True";
  const reason = hasParentImage ? "ParentImage" : "VariablesLeftOut";
  return {
    status: finding.status,
    // What is wrong goes before what is only to be known.
    reason: isWell ? reason : finding.reason,
    message: [finding.message, ...notes].join("; "),
  };
}
