// `keelson global …`: what every cluster of a kind is to hold.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { Refused } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { colourOf } from "../output/paint.ts";
import { Table } from "../output/table.ts";
import { desiredOfManifest } from "./desired-of-manifest.ts";
import { readManifests } from "./read-manifests.ts";
import {
  findGlobal,
  readGlobal,
  selectGlobals,
  theGlobal,
  waitForGlobal,
  type ClusterStatus,
  type GlobalDetails,
  type ListedGlobal,
  type Place,
} from "./read-globals.ts";
import { shortName } from "./resource-shapes.ts";
import { readRevisions, showRevisions } from "./revisions-table.ts";
import type { FleetSession } from "./session.ts";

export async function showGlobals(
  session: FleetSession,
  words: readonly string[],
  { output, ...place }: Place & { readonly output: Output },
  signal: AbortSignal,
): Promise<void> {
  const { terminal, clock } = session;
  const globals = await selectGlobals(session, words, place, signal);
  const [only] = globals;
  const isOne = globals.length === 1 && /[/\d]/.test(words[0] ?? "");
  const details =
    isOne && only !== undefined ? await readGlobal(session, only.id, signal) : undefined;
  if (output === "json" || output === "yaml") {
    const value = details ?? { global_resources: globals };
    terminal.write(await valueText(value as unknown as Json, output));
    return;
  }
  if (output === "name") {
    terminal.write(globals.map((one) => `${shortName(one)}\n`).join(""));
    return;
  }
  if (globals.length === 0) {
    terminal.note(
      words.length > 0 || place.namespace !== undefined
        ? "no global resource matches"
        : 'there are no global resources yet: "keelson global apply -f FILE" makes some',
    );
    return;
  }
  const table = new Table<ListedGlobal>([
    { heading: "NAME", of: shortName },
    { heading: "NAMESPACE", of: ({ namespace }) => (namespace === "" ? "-" : namespace) },
    {
      heading: "STATUS",
      of: ({ status, paused }) => (paused ? `${status},paused` : status),
      paint: (text, { status }) => painted(session, status, text),
    },
    {
      heading: "CLUSTERS",
      of: ({ synced_clusters, total_clusters }) => `${synced_clusters}/${total_clusters}`,
    },
    { heading: "REVISION", of: ({ revision }) => String(revision) },
    { heading: "AGE", of: ({ created_at }) => ageOf(created_at, clock.now()) },
    ...(output === "wide"
      ? [
          { heading: "ID", of: ({ id }: ListedGlobal) => String(id) },
          { heading: "GENERATION", of: ({ generation }: ListedGlobal) => String(generation) },
          { heading: "API VERSION", of: ({ api_version }: ListedGlobal) => api_version },
        ]
      : []),
  ]);
  terminal.write(table.first(globals));
  if (details === undefined || details.cluster_statuses.length === 0) return;
  const clusters = new Table<ClusterStatus>([
    { heading: "CLUSTER", of: ({ cluster_id }) => cluster_id },
    {
      heading: "STATUS",
      of: ({ status }) => status,
      paint: (text, { status }) => painted(session, status, text),
    },
    {
      heading: "SYNCED GENERATION",
      of: ({ synced_generation }) => (synced_generation === null ? "-" : String(synced_generation)),
    },
  ]);
  terminal.write(`\n${clusters.first(details.cluster_statuses)}`);
}

function painted({ paint }: FleetSession, word: string, text: string): string {
  const colour = colourOf(word);
  return colour === undefined ? text : paint(colour, text);
}

export interface GlobalApplyOptions extends Place {
  readonly files: readonly string[];
  readonly isRecursive: boolean;
  readonly policies: Readonly<Record<string, string>>;
  /** Null: every target. Undefined: as it is. */
  readonly selector: JsonObject | null | undefined;
  readonly waitMs: number | undefined;
}

/** One after the other: what was written before one that is refused stays. */
export async function applyGlobals(
  session: FleetSession,
  { files, isRecursive, namespace, policies, selector, waitMs }: GlobalApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const builtin = await session.kindNames();
  const manifests = await readManifests(session, files, { isRecursive });
  const wanted = manifests.map((manifest) => desiredOfManifest(manifest, { namespace, builtin }));
  const ids: number[] = [];
  for (const { desired, leftOut, place } of wanted) {
    if (leftOut.length > 0) {
      terminal.note(`${shortName(desired)}: left out ${leftOut.join(", ")}`);
    }
    const before = await findGlobal(session, desired, signal);
    const chosen = selector === undefined ? {} : { selector };
    try {
      const body = { ...desired, ...policies, ...chosen };
      const answer =
        before === undefined
          ? await client.post("/global-resources", body, signal)
          : await client.put(`/global-resources/${before.id}`, body, signal);
      const { id } = answer as unknown as { readonly id: number };
      const now = await readGlobal(session, id, signal);
      ids.push(id);
      terminal.write(`${shortName(desired)} ${outcomeOf(before, now)}\n`);
      if (now.cluster_statuses.length === 0) {
        terminal.note(`${shortName(desired)}: no target is selected, it is delivered once one is`);
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new CommandError(`${place}: ${shortName(desired)} is refused: ${error.message}`, {
        cause: error,
      });
    }
  }
  if (waitMs !== undefined) {
    for (const id of ids) await waitForGlobal(session, id, waitMs, signal);
  }
}

function outcomeOf(before: GlobalDetails | undefined, now: GlobalDetails): string {
  if (before === undefined) return "created";
  // What was said of it, without what only follows from that.
  const told = { status: "", cluster_statuses: [], synced_clusters: 0, total_clusters: 0 };
  return jsonEqual({ ...before, ...told }, { ...now, ...told }) ? "unchanged" : "configured";
}

export async function removeGlobals(
  session: FleetSession,
  words: readonly string[],
  {
    isOrphaning,
    waitMs,
    ...place
  }: Place & { readonly isOrphaning: boolean; readonly waitMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const global = await theGlobal(session, words, place, signal);
  const query = isOrphaning ? { orphan: true } : {};
  await client.delete(`/global-resources/${global.id}`, query, signal);
  const done = isOrphaning ? "forgotten, its objects stay" : "deleting";
  terminal.write(`${shortName(global)} ${done}\n`);
  if (waitMs === undefined || isOrphaning) return;
  await waitForGlobal(session, global.id, waitMs, signal, {
    goal: "gone",
    name: shortName(global),
  });
}

export async function globalHistory(
  session: FleetSession,
  words: readonly string[],
  { output, limit, ...place }: Place & { readonly output: Output; readonly limit: number },
  signal: AbortSignal,
): Promise<void> {
  const { id, generation } = await theGlobal(session, words, place, signal);
  const revisions = await readRevisions(session, `/global-resources/${id}`, limit + 1, signal);
  const stateOf = (revision: { readonly generation: number }): string =>
    revision.generation === generation ? "wanted" : "";
  await showRevisions(session, revisions, { output, limit, stateOf });
}

export async function rollbackGlobal(
  session: FleetSession,
  words: readonly string[],
  {
    toRevision,
    waitMs,
    ...place
  }: Place & { readonly toRevision: number; readonly waitMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const global = await theGlobal(session, words, place, signal);
  const name = shortName(global);
  const answer = await client.put(
    `/global-resources/${global.id}`,
    { revision: toRevision },
    signal,
  );
  const { generation, revision } = answer as unknown as ListedGlobal;
  terminal.write(
    generation === global.generation
      ? `${name} is at revision ${revision} already\n`
      : `${name} rolled back to revision ${revision} (generation ${generation})\n`,
  );
  if (waitMs !== undefined) await waitForGlobal(session, global.id, waitMs, signal);
}
