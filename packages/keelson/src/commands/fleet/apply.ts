// `keelson apply`: manifests become resources, all of them in one transaction.

import type { Json, JsonObject } from "@keelson/base";
import { Refused, type Query } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import { valueText, type Output } from "../output/formats.ts";
import { isOfGlobal } from "./global-copies.ts";
import { outcomeText, type Outcome } from "./outcome.ts";
import {
  findDetails,
  fullName,
  shortName,
  type ListedResource,
  type NamedResource,
} from "./resource-shapes.ts";
import { meantTarget } from "./read-targets.ts";
import type { Session } from "../session.ts";
import { waitFor } from "./wait.ts";
import { readWanted, type ManifestOptions, type Wanted } from "./wanted.ts";

export interface ApplyOptions extends ManifestOptions {
  /** As the API calls them; only those that were said. */
  readonly policies: Readonly<Record<string, string>>;
  readonly output: Output;
  /** Undefined: does not wait. */
  readonly waitMs: number | undefined;
}

interface Result extends Pick<ListedResource, "id" | "generation" | "revision" | "status"> {
  readonly outcome: Outcome;
}

interface BatchAnswer {
  readonly change_set: string;
  readonly results: readonly Result[];
}

export async function apply(
  session: Session,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, paint } = session;
  const { output, waitMs } = options;
  const wanted = await readWanted(session, options, signal);
  const answer = (await sendWanted(session, wanted, options, signal)) as unknown as BatchAnswer;
  const applied = answer.results.map((result, index) => appliedOf(result, wanted[index]));

  if (output === "json" || output === "yaml") {
    const shown = { change_set: answer.change_set, results: applied };
    terminal.write(await valueText(shown as unknown as Json, output));
  } else {
    for (const one of applied) {
      const word = output === "name" ? "" : ` ${outcomeText(paint, one.outcome)}`;
      terminal.write(`${fullName(one)}${word}\n`);
    }
  }
  if (waitMs === undefined) return warnOfTargets(session, applied, signal);
  await waitFor(session, applied, { goal: "synced", timeoutMs: waitMs }, signal);
}

/** Asks for all of it at once, and lays a refusal at the door of the object that it is about. */
export async function sendWanted(
  { client }: Session,
  wanted: readonly Wanted[],
  { policies, query = {} }: Pick<ApplyOptions, "policies"> & { readonly query?: Query },
  signal: AbortSignal,
): Promise<JsonObject> {
  const changes = wanted.map(({ clusterId, desired }) => {
    return { op: "upsert", cluster_id: clusterId, ...desired, ...policies };
  });
  try {
    return await client.post("/batch", { changes }, signal, query);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const [first] = error.fields;
    const guilty = wanted[first?.index ?? -1];
    if (guilty === undefined) throw error;
    const problems = error.fields.map(({ field, message }) => {
      if (isOfGlobal(error)) return copyRefusal;
      const path = field.replace(/^changes\[\d+\]\.?/, "").replace(/^desired_spec\./, "");
      return path === "" ? message : `${path}: ${message}`;
    });
    throw new CommandError(
      `${guilty.place}: ${shortName(guilty.desired)} is refused, and nothing was written: ${problems.join("; ")}`,
      { cause: error },
    );
  }
}

const copyRefusal =
  'it is a copy of a global resource: "keelson global apply" changes all its copies';

type Applied = NamedResource & Result;

function appliedOf(result: Result, wanted: Wanted | undefined): Applied {
  const { api_version = "", kind = "", name = "", namespace = "" } = wanted?.desired ?? {};
  return {
    cluster_id: wanted?.clusterId ?? "",
    namespace,
    kind,
    name,
    api_version,
    ...result,
  };
}

/** What goes to a cluster that nobody knows waits until somebody does: better said than found out. */
async function warnOfTargets(
  { client, terminal }: Session,
  applied: readonly Applied[],
  signal: AbortSignal,
): Promise<void> {
  const oneOfEach = new Map(applied.map((one) => [one.cluster_id, one.id]));
  for (const [clusterId, id] of oneOfEach) {
    const details = await findDetails(client, id, signal);
    if (details?.conditions.some(({ reason }) => reason === "UnknownTarget") === true) {
      const meant = await meantTarget(client, clusterId, signal);
      const guess = meant === undefined ? "" : ` (did you mean ${meant}?)`;
      terminal.note(
        `no target is registered as ${clusterId}${guess}: nothing is delivered until "keelson target create ${clusterId}"`,
      );
    }
  }
}
