// `keelson global get --watch`: global resources, and then whatever changes in them or in their copies.

import { followEvents, type ServerEvent } from "../client/event-stream.ts";
import type { Output } from "../output/formats.ts";
import {
  findGlobalById,
  selectGlobals,
  type GlobalDetails,
  type ListedGlobal,
  type Place,
} from "./read-globals.ts";
import { isMeant, readReferences } from "./reference.ts";
import { groupOf, shortName } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import { globalColumns } from "./show-globals.ts";
import { insisting, shower } from "../watch-list.ts";

/** Shows them until `signal`, at which it throws. */
export async function watchGlobals(
  session: Session,
  words: readonly string[],
  { output, ...place }: Place & { readonly output: Output },
  signal: AbortSignal,
): Promise<void> {
  const references = readReferences(words, await session.kindNames(), { takesNames: false });
  const isWanted = (one: ListedGlobal): boolean =>
    (place.namespace ?? one.namespace) === one.namespace &&
    (references.length === 0 || references.some((reference) => isMeant(reference, one)));
  const shown = new Map<number, ListedGlobal>();
  const columns = globalColumns(session, output);
  const show = shower(session, { output, columns, nameOf: shortName, shown });

  const events = followEvents(session, {}, signal);
  // As with resources: an event says where to look, and what is there now is shown.
  for await (const batch of events) {
    if (batch.length === 0) {
      await show(await selectGlobals(session, words, place, signal));
      continue;
    }
    if (batch.some(movesTargets)) {
      const ask = () => selectGlobals(session, [], place, signal);
      const listed = (await insisting(session, ask, signal)).filter(isWanted);
      const present = new Set(listed.map(({ id }) => id));
      await show([
        ...listed,
        ...[...shown.values()].filter(({ id }) => !present.has(id)).map(gone),
      ]);
      continue;
    }
    for (const id of concerned(batch, shown)) {
      const global = await insisting(session, () => findGlobalById(session, id, signal), signal);
      const last = shown.get(id);
      if (global === undefined) await show(last === undefined ? [] : [gone(last)]);
      else if (isWanted(global)) await show([listedOf(global)]);
    }
  }
}

/** After these, or after some that were missed, any of them may be in other clusters than before. */
function movesTargets({ type }: ServerEvent): boolean {
  return ["reset", "target.created", "target.updated", "target.deleted"].includes(type);
}

/** Those that events are about: by their id, or by the key that they share with their copies. */
function concerned(
  batch: readonly ServerEvent[],
  shown: ReadonlyMap<number, ListedGlobal>,
): ReadonlySet<number> {
  const byKey = new Map([...shown.values()].map((one) => [keyOf(one), one.id]));
  const ids = batch.map(({ data }) => {
    const { global_id, namespace, kind, name, api_version } = data;
    if (typeof global_id === "number") return global_id;
    if (typeof api_version !== "string") return undefined;
    return byKey.get(keyOf({ namespace, kind, name, api_version }));
  });
  return new Set(ids.filter((id) => id !== undefined));
}

function keyOf({
  namespace,
  kind,
  name,
  api_version,
}: {
  readonly namespace: unknown;
  readonly kind: unknown;
  readonly name: unknown;
  readonly api_version: string;
}): string {
  return JSON.stringify([groupOf(api_version), namespace, kind, name]);
}

function gone(global: ListedGlobal): ListedGlobal {
  return { ...global, status: "deleted", paused: false, total_clusters: 0, synced_clusters: 0 };
}

/** What a list shows of it. */
function listedOf(details: GlobalDetails): ListedGlobal {
  const { id, namespace, kind, name, api_version, generation, revision } = details;
  const { status, paused, created_at, total_clusters, synced_clusters } = details;
  const named = { id, namespace, kind, name, api_version, generation, revision };
  return { ...named, status, paused, created_at, total_clusters, synced_clusters };
}
