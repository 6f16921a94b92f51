// Which clusters and nodepools are meant by words: ids, or names.

import type { RestClient } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import { findById, kinds, type Declared, type Kind } from "./shapes.ts";

export interface ListFilters {
  readonly platform?: string | undefined;
  /** The phase. */
  readonly status?: string | undefined;
  /** In full, or a beginning that ends in `*`. */
  readonly name?: string | undefined;
  /** The id of the cluster of nodepools. */
  readonly clusterId?: string | undefined;
}

/** All of them, newest first. */
export async function listAll(
  client: RestClient,
  { plural, pageMax }: Kind,
  filters: ListFilters,
  signal: AbortSignal,
): Promise<readonly Declared[]> {
  // Pages shift when something is created meanwhile: what comes twice is one.
  const found = new Map<string, Declared>();
  for (let offset = 0; ; offset += pageMax) {
    const query = { ...filters, limit: pageMax, offset };
    const answer = await client.get(`/${plural}`, query, signal);
    const page = answer[plural] as unknown as readonly Declared[];
    for (const one of page) found.set(one.id, one);
    if (page.length < pageMax) return [...found.values()];
  }
}

export interface FindOptions {
  /** The id of the cluster that nodepools are looked for in. */
  readonly clusterId?: string | undefined;
}

/** The one that `word` means. Throws where there is none, or several. */
export async function findOne(
  client: RestClient,
  { kind, word, clusterId }: FindOptions & { readonly kind: Kind; readonly word: string },
  signal: AbortSignal,
): Promise<Declared> {
  const isInPlace = (one: Declared): boolean =>
    clusterId === undefined || one.cluster_id === clusterId;
  if (isUuid(word)) {
    const found = await findById(client, kind, word, signal);
    if (found !== undefined && isInPlace(found)) return found;
  }
  const listed = await listAll(client, kind, { name: word, clusterId }, signal);
  // A star at the end means a beginning to the API; here it is a letter.
  const [first, ...others] = listed.filter(({ name }) => name === word);
  if (first === undefined) throw await nothingCalled(client, { kind, word, clusterId }, signal);
  if (others.length === 0) return first;
  const all = [first, ...others].map(({ id, created_by: owner, cluster_id: cluster }) =>
    kind.noun === "cluster" ? `${id} of ${owner}` : `${id} in cluster ${cluster}`,
  );
  const hint = kind.noun === "cluster" ? "or say whose with --as" : "or say where with --cluster";
  throw new CommandError(
    `${word} means several ${kind.plural}: take an id, ${hint}\n  ${all.join("\n  ")}`,
  );
}

/** One for each word; throws before anything is done to any. */
export async function findEach(
  client: RestClient,
  words: readonly string[],
  { kind, clusterId }: FindOptions & { readonly kind: Kind },
  signal: AbortSignal,
): Promise<readonly Declared[]> {
  const found = new Map<string, Declared>();
  for (const word of words) {
    const one = await findOne(client, { kind, word, clusterId }, signal);
    found.set(one.id, one);
  }
  return [...found.values()];
}

/** The id of the cluster that `--cluster` names. */
export async function clusterIdOf(
  client: RestClient,
  word: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (word === undefined) return undefined;
  return (await findOne(client, { kind: kinds.cluster, word }, signal)).id;
}

async function nothingCalled(
  client: RestClient,
  { kind, word, clusterId }: FindOptions & { readonly kind: Kind; readonly word: string },
  signal: AbortSignal,
): Promise<CommandError> {
  const { closest } = await import("../../config/closest.ts");
  const names = (await listAll(client, kind, { clusterId }, signal)).map(({ name }) => name);
  const meant = closest(word, names);
  const hint =
    meant === undefined ? `"keelson ${kind.noun} get" shows them` : `did you mean ${meant}?`;
  return new CommandError(`there is no ${kind.noun} ${word}: ${hint}`);
}

function isUuid(word: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word);
}
