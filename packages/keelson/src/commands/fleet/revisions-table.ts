// The history of a resource, global or not, as a table.

import { isJsonArray, isJsonObject, jsonEqual, type Json } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { shortText, valueText, type Output } from "../output/formats.ts";
import { Table } from "../output/table.ts";
import type { Revision } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

/** The newest revisions of what stands at `address`. */
export async function readRevisions(
  { client }: Session,
  address: string,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const query = { limit: Math.min(limit, 1_000) };
  const answer = await client.get(`${address}/revisions`, query, signal);
  return (answer as unknown as { revisions: readonly Revision[] }).revisions;
}

/** Shows so many of them; one more tells what the oldest of those has changed. */
export async function showRevisions(
  { clock, terminal }: Session,
  revisions: readonly Revision[],
  {
    output,
    limit,
    stateOf,
  }: {
    readonly output: Output;
    readonly limit: number;
    readonly stateOf: (revision: Revision) => string;
  },
): Promise<void> {
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
    { heading: "STATE", of: ({ revision }) => stateOf(revision) },
    { heading: "ACTOR", of: ({ revision }) => revision.actor },
    { heading: "CHANGE", of: ({ revision, before }) => changeText(revision, before, lengthMax) },
  ]);
  terminal.write(table.first(rows));
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
