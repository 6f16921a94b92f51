// `keelson global …`: what every cluster of a kind is to hold.

import { jsonEqual, type JsonObject } from "@keelson/base";
import { Refused, type Query } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import type { Output } from "../output/formats.ts";
import { desiredOfManifest } from "./desired-of-manifest.ts";
import { readManifests } from "../read-manifests.ts";
import {
  findGlobal,
  readGlobal,
  theGlobal,
  type GlobalDetails,
  type ListedGlobal,
  type Place,
} from "./read-globals.ts";
import { shortName } from "./resource-shapes.ts";
import { readRevisions, showRevisions } from "./revisions-table.ts";
import type { Session } from "../session.ts";
import { asTrial, copyTrial, tellTrials, type CopyTried, type Trial } from "./trials.ts";
import { waitForGlobal } from "./wait.ts";

export interface GlobalApplyOptions extends Place {
  readonly files: readonly string[];
  readonly isRecursive: boolean;
  readonly policies: Readonly<Record<string, string>>;
  /** Null: every target. Undefined: as it is. */
  readonly selector: JsonObject | null | undefined;
  /** Whether it is only tried. */
  readonly isTrial: boolean;
  readonly waitMs: number | undefined;
}

/** One after the other: what was written before one that is refused stays. */
export async function applyGlobals(
  session: Session,
  { files, isRecursive, namespace, policies, selector, isTrial, waitMs }: GlobalApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, tell } = session;
  const builtin = await session.kindNames();
  const manifests = await readManifests(session, files, { isRecursive }, signal);
  const wanted = manifests.map((manifest) => desiredOfManifest(manifest, { namespace, builtin }));
  const written: GlobalDetails[] = [];
  const trials: Trial[] = [];
  for (const { desired, leftOut, place } of wanted) {
    if (leftOut.length > 0) {
      terminal.note(`${shortName(desired)}: left out ${leftOut.join(", ")}`);
    }
    const before = await findGlobal(session, desired, signal);
    const chosen = selector === undefined ? {} : { selector };
    try {
      const body = { ...desired, ...policies, ...chosen };
      const send = (query: Query) =>
        before === undefined
          ? client.post("/global-resources", body, signal, query)
          : client.put(`/global-resources/${before.id}`, body, signal, query);
      if (isTrial) {
        for (const trial of await tryGlobal(session, desired, send(asTrial))) {
          trials.push({ ...trial, place });
        }
        continue;
      }
      const answer = await send({});
      const { id } = answer as unknown as { readonly id: number };
      const now = await readGlobal(session, id, signal);
      written.push(now);
      tell(shortName(desired), outcomeOf(before, now));
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
  tellTrials(session, trials);
  if (waitMs !== undefined) {
    const goal = { goal: "synced", timeoutMs: waitMs } as const;
    for (const global of written) await waitForGlobal(session, global, goal, signal);
  }
}

/** Says what there is to know of it as a whole, and gives what each cluster would make of its copy. */
async function tryGlobal(
  session: Session,
  key: Pick<ListedGlobal, "namespace" | "kind" | "name" | "api_version">,
  request: Promise<JsonObject>,
): Promise<readonly Trial[]> {
  const { results, warnings } = (await request) as unknown as {
    readonly results: readonly (CopyTried & { readonly cluster_id: string })[];
    readonly warnings: readonly { readonly message: string }[];
  };
  for (const { message } of warnings) session.terminal.note(`${shortName(key)}: ${message}`);
  const { namespace, kind, name, api_version } = key;
  return results.map(({ cluster_id, ...tried }) =>
    copyTrial(session, { cluster_id, namespace, kind, name, api_version }, tried as CopyTried),
  );
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
    isTrial,
    waitMs,
    ...place
  }: Place & {
    readonly isOrphaning: boolean;
    readonly isTrial: boolean;
    readonly waitMs: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const global = await theGlobal(session, words, place, signal);
  const path = `/global-resources/${global.id}`;
  const query = isOrphaning ? { orphan: true } : {};
  if (isTrial) {
    const request = client.delete(path, { ...query, ...asTrial }, signal);
    return tellTrials(session, await tryGlobal(session, global, request));
  }
  await client.delete(path, query, signal);
  const done = isOrphaning ? "forgotten, its objects stay" : "deleting";
  tell(shortName(global), done);
  if (waitMs === undefined || isOrphaning) return;
  await waitForGlobal(session, global, { goal: "gone", timeoutMs: waitMs }, signal);
}

/** Pauses every copy, those to come too, or resumes them. */
export async function setGlobalPaused(
  session: Session,
  words: readonly string[],
  {
    isPaused,
    isTrial,
    ...place
  }: Place & { readonly isPaused: boolean; readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const global = await theGlobal(session, words, place, signal);
  const send = (query: Query) =>
    client.put(`/global-resources/${global.id}`, { paused: isPaused }, signal, query);
  if (isTrial) return tellTrials(session, await tryGlobal(session, global, send(asTrial)));
  await send({});
  const was = global.paused === isPaused ? "already " : "";
  tell(shortName(global), `${was}${isPaused ? "paused" : "resumed"}`);
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
    isTrial,
    waitMs,
    ...place
  }: Place & {
    readonly toRevision: number;
    readonly isTrial: boolean;
    readonly waitMs: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const global = await theGlobal(session, words, place, signal);
  const name = shortName(global);
  const send = async (query: Query): Promise<JsonObject> => {
    try {
      const body = { revision: toRevision };
      return await client.put(`/global-resources/${global.id}`, body, signal, query);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      const place = global.namespace === "" ? "" : ` -n ${global.namespace}`;
      const shows = `"keelson global history ${name}${place}" shows what is`;
      throw new CommandError(`${error.message}: ${shows}`, { cause: error });
    }
  };
  if (isTrial) return tellTrials(session, await tryGlobal(session, global, send(asTrial)));
  const answer = await send({});
  const { generation, revision } = answer as unknown as ListedGlobal;
  tell(
    name,
    generation === global.generation
      ? `is at revision ${revision} already`
      : `rolled back to revision ${revision} (generation ${generation})`,
  );
  if (waitMs === undefined) return;
  await waitForGlobal(session, global, { goal: "synced", timeoutMs: waitMs }, signal);
}
