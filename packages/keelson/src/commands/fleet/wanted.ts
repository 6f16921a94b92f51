// The objects of manifests, each for each cluster that was named.

import { usageError } from "../command-error.ts";
import { desiredOfManifest, type DesiredOfManifest } from "./desired-of-manifest.ts";
import { readManifests } from "../read-manifests.ts";
import { shortName } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

export interface ManifestOptions {
  readonly files: readonly string[];
  readonly isRecursive: boolean;
  readonly clusters: readonly string[];
  readonly namespace: string | undefined;
}

/** One object in one cluster. */
export interface Wanted extends DesiredOfManifest {
  readonly clusterId: string;
}

/** Reads them, and says what of them was left out, unless it does not matter. */
export async function readWanted(
  session: Session,
  {
    files,
    isRecursive,
    clusters,
    namespace,
    isQuiet = false,
  }: ManifestOptions & { readonly isQuiet?: boolean },
  signal: AbortSignal,
): Promise<readonly Wanted[]> {
  if (clusters.length === 0) {
    throw usageError("say which cluster with --cluster, as --cluster local; it may be given again");
  }
  const builtin = await session.kindNames();
  const manifests = await readManifests(session, files, { isRecursive }, signal);
  const desired = manifests.map((manifest) => desiredOfManifest(manifest, { namespace, builtin }));
  for (const { desired: one, leftOut } of desired) {
    if (leftOut.length > 0 && !isQuiet) {
      session.terminal.note(`${shortName(one)}: left out ${leftOut.join(", ")}`);
    }
  }
  return clusters.flatMap((clusterId) => desired.map((one) => ({ ...one, clusterId })));
}
