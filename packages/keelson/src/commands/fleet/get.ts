// `keelson get`: which resources there are, and how they are.

import type { Json } from "@keelson/base";
import type { RestClient } from "../client/rest-client.ts";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import { fullName, reasonOf, shortName, type ListedResource } from "./resource-shapes.ts";
import { readReferences } from "./reference.ts";
import { readWholes } from "./read-wholes.ts";
import { eachOnce, noneText, select, type Filters } from "./select.ts";
import type { Session } from "../session.ts";

export interface GetOptions {
  readonly output: Output;
  readonly filters: Filters;
}

export async function get(
  session: Session,
  words: readonly string[],
  { output, filters }: GetOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const builtin = await session.kindNames();
  const references = readReferences(words, builtin, { takesNames: false });
  const selected = await select(client, references, { filters, builtin }, signal);
  const resources = await eachOnce(client, selected, filters, signal);
  const isNamed = references.length > 0 && references.every(({ by }) => by !== "kind");

  if (output === "json" || output === "yaml") {
    // Those that were named are shown whole; a list stays a list, however many it holds.
    const shown = isNamed ? await readWholes(client, resources, signal) : resources;
    const [only] = shown;
    const value = isNamed && shown.length === 1 && only !== undefined ? only : { resources: shown };
    terminal.write(await valueText(value as unknown as Json, output));
    return;
  }
  if (output === "name") {
    for (const resource of resources) terminal.write(`${fullName(resource)}\n`);
    return;
  }
  if (resources.length === 0) {
    terminal.note(await noneText(client, words, filters, signal));
    return;
  }
  const reasons = isNamed || output === "wide" ? await readReasons(client, resources, signal) : [];
  const table = new Table(
    resourceColumns(session, output === "wide" ? new Map(reasons) : undefined),
  );
  terminal.write(table.first(resources));
  if (output === "wide") return;
  for (const [id, reason] of reasons) {
    const resource = resources.find((one) => one.id === id);
    if (resource !== undefined) terminal.note(`${fullName(resource)}: ${reason}`);
  }
}

/** The columns of a list of resources; with reasons, all that fits into lines. */
export function resourceColumns(
  { clock, paint }: Pick<Session, "clock" | "paint">,
  reasons?: ReadonlyMap<number, string>,
): readonly Column<ListedResource>[] {
  const usual: readonly Column<ListedResource>[] = [
    { heading: "NAME", of: shortName },
    { heading: "CLUSTER", of: ({ cluster_id }) => cluster_id },
    { heading: "NAMESPACE", of: ({ namespace }) => (namespace === "" ? "-" : namespace) },
    {
      heading: "STATUS",
      of: ({ status, paused }) => (paused ? `${status},paused` : status),
      paint: (text, { status }) => paintedAs(paint, status, text),
    },
    {
      heading: "HEALTH",
      of: ({ health }) => health,
      paint: (text, { health }) => paintedAs(paint, health, text),
    },
    { heading: "REVISION", of: ({ revision }) => String(revision) },
    { heading: "AGE", of: ({ created_at }) => ageOf(created_at, clock.now()) },
  ];
  if (reasons === undefined) return usual;
  return [
    ...usual,
    { heading: "ID", of: ({ id }) => String(id) },
    { heading: "GENERATION", of: ({ generation }) => String(generation) },
    { heading: "API VERSION", of: ({ api_version }) => api_version },
    { heading: "MESSAGE", of: ({ id }) => reasons.get(id) ?? "" },
  ];
}

/** Why those that are not well are not, by id. */
async function readReasons(
  client: RestClient,
  resources: readonly ListedResource[],
  signal: AbortSignal,
): Promise<readonly (readonly [number, string])[]> {
  const unwell = resources.filter(
    ({ status, health }) => status !== "synced" || health === "Unknown",
  );
  return (await readWholes(client, unwell, signal)).flatMap((details) => {
    const reason = reasonOf(details);
    return reason === undefined ? [] : [[details.id, reason] as const];
  });
}
