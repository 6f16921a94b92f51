// `keelson history` and `keelson rollback`: what a resource was, and back to it.

import { isJsonArray, isJsonObject, jsonEqual, type Json } from "@keelson/base";
import { Refused } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import { ageOf } from "../output/age.ts";
import { shortText, valueText, type Output } from "../output/formats.ts";
import { Table } from "../output/table.ts";
import { selectToChange, type ChangeOptions } from "./change.ts";
import {
  findDetails,
  fullName,
  type ListedResource,
  type ResourceDetails,
  type Revision,
} from "./resource-shapes.ts";
import type { FleetSession } from "./session.ts";
import { waitFor } from "./wait.ts";

type OneOptions = Pick<ChangeOptions, "filters">;

export async function history(
  session: FleetSession,
  words: readonly string[],
  { output, limit, filters }: OneOptions & { readonly output: Output; readonly limit: number },
  signal: AbortSignal,
): Promise<void> {
  const { clock, terminal } = session;
  const { id } = await theOne(session, words, { filters }, signal);
  const [details, revisions] = await Promise.all([
    whole(session, id, signal),
    // One more than is shown: it tells what the oldest that is shown has changed.
    readRevisions(session, id, limit + 1, signal),
  ]);
  const shown = revisions.slice(0, limit);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText({ revisions: shown } as unknown as Json, output));
    return;
  }
  if (output === "name") {
    terminal.write(shown.map(({ revision }) => `${revision}\n`).join(""));
    return;
  }
  const rows = shown.map((revision, index) => ({ revision, before: revisions[index + 1] }));
  const lengthMax = output === "wide" ? Infinity : 60;
  const table = new Table<(typeof rows)[number]>([
    { heading: "REVISION", of: ({ revision }) => String(revision.revision) },
    { heading: "GENERATION", of: ({ revision }) => String(revision.generation) },
    { heading: "AGE", of: ({ revision }) => ageOf(revision.created_at, clock.now()) },
    { heading: "STATE", of: ({ revision }) => stateOf(revision, details) },
    { heading: "ACTOR", of: ({ revision }) => revision.actor },
    { heading: "CHANGE", of: ({ revision, before }) => changeText(revision, before, lengthMax) },
  ]);
  terminal.write(table.first(rows));
}

export async function rollback(
  session: FleetSession,
  words: readonly string[],
  {
    toRevision,
    toGeneration,
    waitMs,
    filters,
  }: OneOptions & {
    readonly toRevision: number | undefined;
    readonly toGeneration: number | undefined;
    readonly waitMs: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const resource = await theOne(session, words, { filters }, signal);
  const name = fullName(resource);
  if ((toRevision === undefined) === (toGeneration === undefined)) {
    const known = await readRevisions(session, resource.id, 10, signal);
    const numbers = [...new Set(known.map(({ revision }) => revision))];
    throw usageError(
      `say where to, with --to-revision or --to-generation: ${name} is at revision ${resource.revision}` +
        ` and was at ${numbers.filter((one) => one !== resource.revision).join(", ") || "no other"}` +
        `; "keelson history ${name}" shows them`,
    );
  }
  const body =
    toRevision === undefined ? { restore_generation: toGeneration ?? 0 } : { revision: toRevision };
  const { generation, revision } = (await client
    .put(`/resources/${resource.id}`, body, signal)
    .catch((error: unknown) => {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      throw new CommandError(`${error.message}: "keelson history ${name}" shows what is`, {
        cause: error,
      });
    })) as unknown as Pick<ListedResource, "generation" | "revision">;
  terminal.write(
    generation === resource.generation
      ? `${name} is at revision ${revision} already\n`
      : `${name} rolled back to revision ${revision} (generation ${generation})\n`,
  );
  if (waitMs !== undefined) {
    await waitFor(session, [resource], { goal: "synced", timeoutMs: waitMs }, signal);
  }
}

/** The one resource that the words name. */
export async function theOne(
  session: FleetSession,
  words: readonly string[],
  { filters }: OneOptions,
  signal: AbortSignal,
): Promise<ListedResource> {
  const found = await selectToChange(session, words, { filters, isAll: false }, signal);
  const [only, ...others] = found;
  if (only === undefined) throw new CommandError("no resource matches");
  if (others.length > 0) throw usageError("name one resource at a time");
  return only;
}

async function whole(
  { client }: FleetSession,
  id: number,
  signal: AbortSignal,
): Promise<ResourceDetails> {
  const details = await findDetails(client, id, signal);
  if (details === undefined) throw new CommandError("the resource has just gone");
  return details;
}

async function readRevisions(
  { client }: FleetSession,
  id: number,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const query = { limit: Math.min(limit, 1_000) };
  const answer = await client.get(`/resources/${id}/revisions`, query, signal);
  return (answer as unknown as { revisions: readonly Revision[] }).revisions;
}

function stateOf(
  { generation }: Revision,
  { applied, generation: wanted }: ResourceDetails,
): string {
  if (applied?.generation === generation)
    return wanted === generation ? "applied" : "still applied";
  return wanted === generation ? "wanted" : "";
}

/** What a generation changed, as `spec.replicas: 1 → 3`. */
function changeText(revision: Revision, before: Revision | undefined, lengthMax: number): string {
  if (before === undefined) return revision.generation === 1 ? "created" : "";
  const changes = [...differences(before.desired_spec, revision.desired_spec, "")];
  if (revision.api_version !== before.api_version) {
    changes.unshift({ path: "apiVersion", from: before.api_version, to: revision.api_version });
  }
  if (changes.length === 0) return "";
  const texts = changes.map(
    ({ path, from, to }) => `${path}: ${shortText(from, 24)} → ${shortText(to, 24)}`,
  );
  const all = texts.join(", ");
  if (all.length <= lengthMax) return all;
  const [first = ""] = texts;
  const rest = texts.length - 1;
  return rest === 0 ? first : `${first}, and ${rest} more`;
}

interface Difference {
  readonly path: string;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** Where two values differ, as deep as both have the same shape. */
function* differences(
  from: Json | undefined,
  to: Json | undefined,
  path: string,
): Generator<Difference> {
  if (from !== undefined && to !== undefined && jsonEqual(from, to)) return;
  if (isJsonObject(from) && isJsonObject(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      yield* differences(from[key], to[key], path === "" ? key : `${path}.${key}`);
    }
  } else if (
    from !== undefined &&
    to !== undefined &&
    isJsonArray(from) &&
    isJsonArray(to) &&
    from.length === to.length
  ) {
    for (const [index, item] of from.entries())
      yield* differences(item, to[index], `${path}[${index}]`);
  } else yield { path, from, to };
}
