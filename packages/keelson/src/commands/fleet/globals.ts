// `keelson global …`: what every cluster of a kind is to hold.

import { jsonEqual, type JsonObject } from "@keelson/base";
import { Refused } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import type { Output } from "../output/formats.ts";
import { desiredOfManifest } from "./desired-of-manifest.ts";
import { readManifests } from "../read-manifests.ts";
import {
  findGlobal,
  readGlobal,
  theGlobal,
  waitForGlobal,
  type GlobalDetails,
  type ListedGlobal,
  type Place,
} from "./read-globals.ts";
import { shortName } from "./resource-shapes.ts";
import { readRevisions, showRevisions } from "./revisions-table.ts";
import type { Session } from "../session.ts";

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
  session: Session,
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
  session: Session,
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

/** Pauses every copy, those to come too, or resumes them. */
export async function setGlobalPaused(
  session: Session,
  words: readonly string[],
  { isPaused, ...place }: Place & { readonly isPaused: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const global = await theGlobal(session, words, place, signal);
  await client.put(`/global-resources/${global.id}`, { paused: isPaused }, signal);
  const was = global.paused === isPaused ? "already " : "";
  terminal.write(`${shortName(global)} ${was}${isPaused ? "paused" : "resumed"}\n`);
}

export async function globalHistory(
  session: Session,
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
  session: Session,
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
