// What would become of manifests: tried by the server and by the clusters, and nothing is kept.

import type { Json } from "@keelson/base";
import { quietFailure } from "../command-error.ts";
import { valueText } from "../output/formats.ts";
import { sendWanted, type ApplyOptions } from "./apply.ts";
import { outcomeText, type Outcome } from "./outcome.ts";
import { fullName, type NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import {
  asTrial,
  noteTrials,
  reasonAgainst,
  tellTrials,
  type Accepted,
  type Declined,
  type Trial,
} from "./trials.ts";
import { readWanted, type ManifestOptions, type Wanted } from "./wanted.ts";

/** An object that was tried: by a cluster that would take it, or with the reason why none would. */
export type Tried = Omit<NamedResource, "id"> & {
  readonly place: string;
  readonly answer: (Accepted & { readonly outcome: Outcome }) | Declined;
};

/** `keelson apply --dry-run`: ends as a failure where a cluster would not take an object. */
export async function applyDryRun(
  session: Session,
  options: Omit<ApplyOptions, "waitMs">,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, paint } = session;
  const { output } = options;
  const tried = await tryManifests(session, options, signal);
  const trials = tried.map((one): Trial => {
    const { place, answer } = one;
    const word = "outcome" in answer ? outcomeText(paint, answer.outcome) : "";
    return { name: fullName(one), place, word, answer };
  });
  if (output === "table" || output === "wide") return tellTrials(session, trials);
  const taken = trials.filter(({ answer }) => reasonAgainst(answer) === undefined);
  terminal.write(
    output === "name"
      ? taken.map(({ name }) => `${name}\n`).join("")
      : await valueText({ dry_run: true, results: shownOf(tried) }, output),
  );
  noteTrials(session, trials);
  if (taken.length < trials.length) throw quietFailure();
}

/** Tries the objects of manifests, each in each cluster that was named. */
export async function tryManifests(
  session: Session,
  options: ManifestOptions & Pick<ApplyOptions, "policies">,
  signal: AbortSignal,
): Promise<readonly Tried[]> {
  const wanted = await readWanted(session, options, signal);
  const asked = { policies: options.policies, query: asTrial };
  const { results } = (await sendWanted(session, wanted, asked, signal)) as unknown as {
    readonly results: readonly Tried["answer"][];
  };
  return results.flatMap((answer, index) => triedOf(wanted[index], answer));
}

/** What machines read of them: the key of each, and all that was answered. */
export function shownOf(tried: readonly Tried[]): Json {
  return tried.map(({ place: _place, answer, ...key }) => ({
    ...key,
    ...answer,
  })) as unknown as Json;
}

function triedOf(wanted: Wanted | undefined, answer: Tried["answer"]): readonly Tried[] {
  if (wanted === undefined) return [];
  const { clusterId: cluster_id, place, desired } = wanted;
  const { namespace, kind, name, api_version } = desired;
  return [{ cluster_id, namespace, kind, name, api_version, place, answer }];
}
