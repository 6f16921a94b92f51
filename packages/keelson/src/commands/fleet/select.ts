// Which resources a command is about.

import type { KindNames } from "@keelson/kube/kind-names";
import { closest } from "../../config/closest.ts";
import type { Query, RestClient } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import { allWords, isBuiltinWord, type MeantKind } from "./kind-words.ts";
import { meantTarget } from "./read-targets.ts";
import type { Reference } from "./reference.ts";
import { findDetails, fullName, shortName, type ListedResource } from "./resource-shapes.ts";

/** What narrows a selection. */
export interface Filters {
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  readonly status?: string | undefined;
  /** Each `key=value`; a resource must have all of them. */
  readonly labels: readonly string[];
}

/** What somebody asked for, and what there is of it. */
export interface Selected {
  readonly reference: Reference | undefined;
  readonly resources: readonly ListedResource[];
}

const pageSize = 1_000;

/** Every resource that the filters and the further parameters let through, in the order of the server. */
export async function listResources(
  client: RestClient,
  filters: Filters,
  more: Query,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const { cluster, namespace, status, labels } = filters;
  const query = { cluster_id: cluster, namespace, status, ...more };
  const [label, ...others] = labels;
  const found = await listPages(client, { ...query, label }, signal);
  // The server looks at one label a time.
  const rest = await Promise.all(
    others.map((other) => listPages(client, { ...query, label: other }, signal)),
  );
  const idSets = rest.map((list) => new Set(list.map(({ id }) => id)));
  return found.filter(({ id }) => idSets.every((ids) => ids.has(id)));
}

async function listPages(
  client: RestClient,
  query: Query,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const found: ListedResource[] = [];
  for (let cursor: string | undefined; ;) {
    const page = (await client.get(
      "/resources",
      { ...query, limit: pageSize, cursor },
      signal,
    )) as unknown as { resources: ListedResource[]; next: string | null };
    found.push(...page.resources);
    if (page.next === null) return found;
    cursor = page.next;
  }
}

/** What each reference means; without any, everything that the filters let through. */
export async function select(
  client: RestClient,
  references: readonly Reference[],
  { filters, builtin }: { readonly filters: Filters; readonly builtin: readonly KindNames[] },
  signal: AbortSignal,
): Promise<readonly Selected[]> {
  if (references.length === 0) {
    return [{ reference: undefined, resources: await listResources(client, filters, {}, signal) }];
  }
  return Promise.all(
    references.map(async (reference) => {
      const resources = await meant(client, reference, filters, signal);
      if (resources.length === 0 && reference.by === "kind") {
        await refuseUnknownKind(client, reference.kind, builtin, signal);
      }
      return { reference, resources };
    }),
  );
}

/** The selected ones, each once. Throws for a name that means nothing. */
export async function eachOnce(
  client: RestClient,
  selected: readonly Selected[],
  filters: Filters,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  for (const { reference, resources } of selected) {
    if (reference === undefined || reference.by === "kind" || resources.length > 0) continue;
    throw notFound(reference, filters, await probablyMeant(client, reference, filters, signal));
  }
  const all = selected.flatMap(({ resources }) => resources);
  return [...new Map(all.map((resource) => [resource.id, resource])).values()];
}

/** What is said where nothing was found. */
export async function noneText(
  client: RestClient,
  words: readonly string[],
  { cluster, namespace, status, labels }: Filters,
  signal: AbortSignal,
): Promise<string> {
  const asked = [cluster, namespace, status, ...labels, ...words].some((one) => one !== undefined);
  if (!asked)
    return 'there are no resources yet: "keelson apply -f FILE --cluster NAME" makes some';
  const meant = cluster === undefined ? undefined : await meantTarget(client, cluster, signal);
  return `no resource matches${meant === undefined ? "" : `: did you mean --cluster ${meant}?`}`;
}

/**
 * Throws for what a command that changes something does not take. A name must mean one resource, unless all that it means are
 * wanted; a kind alone needs a label, or the word that all are wanted. `isOne`: nobody could say that word.
 */
export function refuseMany(
  selected: readonly Selected[],
  {
    filters,
    isAll,
    isOne,
  }: { readonly filters: Filters; readonly isAll: boolean; readonly isOne: boolean },
): void {
  const isNarrow = isAll || filters.labels.length > 0;
  if (selected.every(({ reference }) => reference === undefined) && !isNarrow) {
    throw usageError("name a resource, as deployment/web, or say which with -l or --all");
  }
  for (const { reference, resources } of isNarrow ? [] : selected) {
    if (reference?.by === "kind") {
      const otherwise = isOne ? "" : ", or say which with -l or --all";
      throw usageError(
        `${reference.text} is all of them: name one, as ${reference.text}/NAME${otherwise}`,
      );
    }
    if (resources.length > 1) throw ambiguous(reference?.text ?? "", resources, { isOne });
  }
}

async function meant(
  client: RestClient,
  reference: Reference,
  filters: Filters,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  if (reference.by === "id") {
    const found = await findDetails(client, reference.id, signal);
    return found === undefined ? [] : [found];
  }
  const { kind } = reference;
  const narrowed =
    reference.by === "kind"
      ? { kind: kind?.kind }
      : { kind: kind?.kind, name: reference.name, ...placeOf(reference) };
  const found = await listResources(client, filters, narrowed, signal);
  return found.filter((resource) => kind?.means(resource) ?? true);
}

function placeOf({ clusterId, namespace }: Extract<Reference, { by: "name" }>): Query {
  return {
    ...(clusterId === undefined ? {} : { cluster_id: clusterId }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** What was probably to be typed for a name that means nothing: of its kind if there are any, else of one that is spelt alike. */
async function probablyMeant(
  client: RestClient,
  reference: Reference,
  filters: Filters,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (reference.by !== "name") return undefined;
  const { kind, name, text } = reference;
  const wider = { ...filters, status: undefined };
  const query = { kind: kind?.kind, ...placeOf(reference) };
  const near = await listResources(client, wider, query, signal);
  const { cluster } = filters;
  if (near.length === 0 && cluster !== undefined) {
    const elsewhere = await meantTarget(client, cluster, signal);
    if (elsewhere !== undefined) return `--cluster ${elsewhere}`;
  }
  const alike = near.filter((resource) => kind?.means(resource) ?? true);
  const before = text.slice(0, -name.length);
  if (alike.length > 0) {
    const meant = closest(
      name,
      alike.map((one) => one.name),
    );
    return meant === undefined ? undefined : `${before}${meant}`;
  }
  return closest(`${kind?.word ?? ""}/${name}`, near.map(shortName));
}

async function refuseUnknownKind(
  client: RestClient,
  { word }: MeantKind,
  builtin: readonly KindNames[],
  signal: AbortSignal,
): Promise<void> {
  if (isBuiltinWord(word, builtin) || /^[A-Z]/.test(word)) return;
  const [all, namesakes] = await Promise.all([
    listResources(client, { labels: [] }, {}, signal),
    listResources(client, { labels: [] }, { name: word }, signal),
  ]);
  const namesake = namesakes[0];
  const meant =
    namesake === undefined ? closest(word, allWords(builtin, all)) : shortName(namesake);
  const hint = meant === undefined ? "" : `: did you mean ${meant}?`;
  throw usageError(`no resource is of a kind "${word}"${hint}`);
}

function notFound(
  { text, by }: Reference,
  filters: Filters,
  meant: string | undefined,
): CommandError {
  const where = [
    ...(filters.cluster === undefined ? [] : [`in cluster ${filters.cluster}`]),
    ...(filters.namespace === undefined ? [] : [`in namespace ${filters.namespace}`]),
    ...filters.labels.map((label) => `with ${label}`),
    ...(filters.status === undefined ? [] : [`that is ${filters.status}`]),
  ];
  const which = by === "id" ? `with the id ${text}` : text;
  const hint = meant === undefined ? '"keelson get" shows what there is' : `did you mean ${meant}?`;
  return new CommandError(`there is no resource ${[which, ...where].join(" ")}: ${hint}`);
}

function ambiguous(
  text: string,
  resources: readonly ListedResource[],
  { isOne }: { readonly isOne: boolean },
): CommandError {
  const shown = resources.slice(0, 5).map(fullName);
  const rest =
    resources.length > shown.length ? `, and ${resources.length - shown.length} more` : "";
  const next = isOne
    ? "name one in full, or narrow it with --cluster and -n"
    : "name one in full, narrow it with --cluster and -n, or say --all";
  return usageError(
    `${text} is ${resources.length} resources (${shown.join(", ")}${rest}): ${next}`,
  );
}
