// Global resources as the API tells them, and which of them words mean.

import type { JsonObject } from "@keelson/base";
import type { KindNames } from "@keelson/kube/kind-names";
import { closest } from "../../config/closest.ts";
import { CommandError, usageError } from "../command-error.ts";
import { allWords, isBuiltinWord, type MeantKind } from "./kind-words.ts";
import { isMeant, readReferences, type Reference } from "./reference.ts";
import { groupOf, shortName } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

export interface ListedGlobal {
  readonly id: number;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly api_version: string;
  readonly generation: number;
  readonly revision: number;
  readonly status: string;
  readonly paused: boolean;
  readonly created_at: string;
  readonly total_clusters: number;
  readonly synced_clusters: number;
}

export interface GlobalDetails extends ListedGlobal {
  readonly selector: JsonObject | null;
  readonly cluster_statuses: readonly ClusterStatus[];
}

export interface ClusterStatus {
  readonly cluster_id: string;
  readonly synced_generation: number | null;
  readonly status: string;
}

export interface Place {
  readonly namespace: string | undefined;
}

/** Those that the words name; all, without any. */
export async function selectGlobals(
  session: Session,
  words: readonly string[],
  { namespace }: Place,
  signal: AbortSignal,
): Promise<readonly ListedGlobal[]> {
  const builtin = await session.kindNames();
  const references = readReferences(words, builtin, { takesNames: false });
  for (const reference of references) refuseCopy(reference);
  const all = await listGlobals(session, { namespace }, signal);
  if (references.length === 0) return all;
  const found = references.flatMap((reference) => {
    const meant = all.filter((one) => isMeant(reference, one));
    if (meant.length > 0) return meant;
    if (reference.by !== "kind") throw notFound(reference, all);
    refuseUnknownKind(reference.kind, all, builtin);
    return meant;
  });
  return [...new Set(found)];
}

/** Throws for the whole name of a resource: whoever means one cluster must not be given all. */
function refuseCopy(reference: Reference): void {
  if (reference.by !== "name" || reference.clusterId === undefined) return;
  const { text, kind, name } = reference;
  throw usageError(
    `"${text}" is in one cluster: a global resource is named by kind and name, as ${kind?.word}/${name}, and -n`,
  );
}

function refuseUnknownKind(
  { word }: MeantKind,
  all: readonly ListedGlobal[],
  builtin: readonly KindNames[],
): void {
  if (isBuiltinWord(word, builtin) || /^[A-Z]/.test(word)) return;
  const namesake = all.find(({ name }) => name === word);
  const meant =
    namesake === undefined ? closest(word, allWords(builtin, all)) : shortName(namesake);
  const hint = meant === undefined ? "" : `: did you mean ${meant}?`;
  throw usageError(`no global resource is of a kind "${word}"${hint}`);
}

function notFound(reference: Reference, all: readonly ListedGlobal[]): CommandError {
  const named = reference.by === "name" ? reference : undefined;
  const alike = all.filter((one) => named?.kind?.means(one) ?? false);
  const meant = closest(
    named?.name ?? "",
    alike.map(({ name }) => name),
  );
  const hint =
    named === undefined || meant === undefined
      ? '"keelson global get" shows what there is'
      : `did you mean ${named.text.slice(0, -named.name.length)}${meant}?`;
  return new CommandError(`there is no global resource ${reference.text}: ${hint}`);
}

/** The one that the words name; a kind alone names none, even if there is only one of it. */
export async function theGlobal(
  session: Session,
  words: readonly string[],
  place: Place,
  signal: AbortSignal,
): Promise<ListedGlobal> {
  const found = await selectGlobals(session, words, place, signal);
  const builtin = await session.kindNames();
  for (const { by, text } of readReferences(words, builtin, { takesNames: false })) {
    if (by === "kind") throw usageError(`${text} is all of them: name one, as ${text}/NAME`);
  }
  const [only, ...others] = found;
  if (only === undefined) throw new CommandError("no global resource matches");
  if (others.length === 0) return only;
  const ids = found.map(({ id, namespace }) => `${id} in ${namespace === "" ? "none" : namespace}`);
  throw usageError(
    `${words.join(" ")} is ${found.length} global resources: narrow it with -n, or name one by its id (${ids.join(", ")})`,
  );
}

async function listGlobals(
  { client }: Session,
  query: {
    readonly namespace?: string | undefined;
    readonly kind?: string;
    readonly name?: string;
  },
  signal: AbortSignal,
): Promise<readonly ListedGlobal[]> {
  const found: ListedGlobal[] = [];
  for (let cursor: string | undefined; ;) {
    const asked = { ...query, limit: 1_000, cursor };
    const page = (await client.get("/global-resources", asked, signal)) as unknown as {
      readonly global_resources: readonly ListedGlobal[];
      readonly next: string | null;
    };
    found.push(...page.global_resources);
    if (page.next === null) return found;
    cursor = page.next;
  }
}

/** The one of that key, if there is one. */
export async function findGlobal(
  session: Session,
  key: Pick<ListedGlobal, "namespace" | "kind" | "name" | "api_version">,
  signal: AbortSignal,
): Promise<GlobalDetails | undefined> {
  const { namespace, kind, name, api_version } = key;
  const listed = await listGlobals(session, { namespace, kind, name }, signal);
  const found = listed.find(
    (one) => groupOf(one.api_version) === groupOf(api_version) && one.status !== "deleting",
  );
  return found === undefined ? undefined : readGlobal(session, found.id, signal);
}

export async function readGlobal(
  { client }: Session,
  id: number,
  signal: AbortSignal,
): Promise<GlobalDetails> {
  return (await client.get(`/global-resources/${id}`, {}, signal)) as unknown as GlobalDetails;
}

/** Undefined if it is not there any more. */
export async function findGlobalById(
  { client }: Session,
  id: number,
  signal: AbortSignal,
): Promise<GlobalDetails | undefined> {
  const found = await client.find(`/global-resources/${id}`, signal);
  return found as unknown as GlobalDetails | undefined;
}
