// `keelson get --watch`: a list, and then whatever changes in it.

import { isJsonObject } from "@keelson/base";
import { followEvents, type ServerEvent } from "../client/event-stream.ts";
import type { RestClient } from "../client/rest-client.ts";
import type { Output } from "../output/formats.ts";
import { resourceColumns } from "./get.ts";
import { readWholes } from "./read-wholes.ts";
import { isMeant, readReferences, type Reference } from "./reference.ts";
import {
  fullName,
  reasonOf,
  type ListedResource,
  type ResourceDetails,
} from "./resource-shapes.ts";
import { eachOnce, select, type Filters } from "./select.ts";
import type { Session } from "../session.ts";
import { insisting, shower } from "../watch-list.ts";

export interface WatchOptions {
  readonly output: Output;
  readonly filters: Filters;
}

/** Shows them until `signal`, at which it throws. */
export async function watch(
  session: Session,
  words: readonly string[],
  { output, filters }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client } = session;
  const builtin = await session.kindNames();
  const references = readReferences(words, builtin, { takesNames: false });
  const reasons = new Map<number, string>();
  const shown = new Map<number, ListedResource>();
  const columns = resourceColumns(session, output === "wide" ? reasons : undefined);
  const show = shower(session, { output, columns, nameOf: fullName, shown });

  const events = followEvents(session, { query: { cluster_id: filters.cluster } }, signal);
  // An event says where to look; what is there now is read. So nothing that is shown was untrue when it was read.
  for await (const batch of events) {
    const isFirst = batch.length === 0;
    if (isFirst || batch.some(({ type }) => type === "reset")) {
      const ask = () => select(client, references, { filters, builtin }, signal);
      const selected = isFirst ? await ask() : await insisting(session, ask, signal);
      const listed = isFirst
        ? await eachOnce(client, selected, filters, signal)
        : selected.flatMap((one) => one.resources);
      const missing = () => missingIn(client, listed, shown, signal);
      await show([...listed, ...(await insisting(session, missing, signal))]);
      continue;
    }
    const gone = batch.filter(({ type }) => type === "resource.deleted").flatMap(goneOf);
    const ids = new Set(
      batch.map(({ data }) => data["resource_id"]).filter((id) => typeof id === "number"),
    );
    for (const { id } of gone) ids.delete(id);
    const asked = [...ids].map((id) => ({ id }));
    const read = await insisting(session, () => readWholes(client, asked, signal), signal);
    const wanted = read.filter((one) => isWanted(one, references, filters));
    for (const one of wanted) reasons.set(one.id, reasonOf(one) ?? "");
    // The end of a resource does not tell its labels; what was never shown needs no end.
    await show([...wanted.map(listedOf), ...gone.filter(({ id }) => shown.has(id))]);
  }
}

/** What went while nobody heard of it. By its status or labels it may only have left the list. */
async function missingIn(
  client: RestClient,
  listed: readonly ListedResource[],
  shown: ReadonlyMap<number, ListedResource>,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const present = new Set(listed.map(({ id }) => id));
  const missing = [...shown.values()].filter(
    ({ id, status }) => !present.has(id) && status !== "deleted",
  );
  for (const { id } of await readWholes(client, missing, signal)) present.add(id);
  return missing.filter(({ id }) => !present.has(id)).map(deletedOf);
}

function deletedOf(resource: ListedResource): ListedResource {
  return { ...resource, status: "deleted", health: "-", paused: false };
}

function isWanted(
  resource: ResourceDetails,
  references: readonly Reference[],
  filters: Filters,
): boolean {
  const { metadata } = resource.desired_spec;
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  const hasLabels = filters.labels.every((label) => {
    const equals = label.indexOf("=");
    return isJsonObject(labels) && labels[label.slice(0, equals)] === label.slice(equals + 1);
  });
  const isInStatus = filters.status === undefined || filters.status === resource.status;
  return hasLabels && isInStatus && isNamed(resource, references, filters);
}

/** Whether it is meant, as far as its name tells. */
function isNamed(
  resource: ListedResource,
  references: readonly Reference[],
  { cluster, namespace }: Filters,
): boolean {
  const isHere = (clusterId: string | undefined, within: string | undefined): boolean =>
    (clusterId ?? resource.cluster_id) === resource.cluster_id &&
    (within ?? resource.namespace) === resource.namespace;
  const isAsked = (reference: Reference): boolean =>
    isMeant(reference, resource) &&
    (reference.by !== "name" || isHere(reference.clusterId, reference.namespace));
  return isHere(cluster, namespace) && (references.length === 0 || references.some(isAsked));
}

/** What a list shows of it. */
function listedOf(details: ResourceDetails): ListedResource {
  const { id, cluster_id, namespace, kind, name, api_version } = details;
  const { generation, revision, status, health, paused, created_at } = details;
  const named = { id, cluster_id, namespace, kind, name, api_version };
  return { ...named, generation, revision, status, health, paused, created_at };
}

/** The last that is heard of a resource. */
function goneOf({ data }: ServerEvent): readonly ListedResource[] {
  const { resource_id: id } = data;
  if (typeof id !== "number") return [];
  const text = (name: string): string => {
    const value = data[name];
    return typeof value === "string" ? value : "";
  };
  const number = (name: string): number => {
    const value = data[name];
    return typeof value === "number" ? value : 0;
  };
  return [
    {
      id,
      cluster_id: text("cluster_id"),
      namespace: text("namespace"),
      kind: text("kind"),
      name: text("name"),
      api_version: text("api_version"),
      generation: number("generation"),
      revision: number("revision"),
      status: "deleted",
      health: "-",
      paused: false,
      created_at: "",
    },
  ];
}
