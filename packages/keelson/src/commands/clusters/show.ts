// `keelson cluster list` and `get`: which there are, and where they stand.

import type { Json } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import { watchByAsking } from "../watch-list.ts";
import { findEach, listAll, type ListFilters } from "./find.ts";
import { findById, kinds, platformOf, reasonOf, type Declared, type Kind } from "./shapes.ts";

interface Asked {
  readonly kind: Kind;
  readonly output: Output;
}

export async function list(
  session: Session,
  { kind, output, filters }: Asked & { readonly filters: ListFilters },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const found = await listAll(client, kind, filters, signal);
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText({ [kind.plural]: found } as unknown as Json, output));
    return;
  }
  if (found.length === 0 && output !== "name") {
    const isNarrowed = Object.values(filters).some((filter) => filter !== undefined);
    terminal.note(isNarrowed ? `no ${kind.noun} matches` : noneYet(kind));
    return;
  }
  await showRows(session, found, { kind, output }, signal);
}

export async function get(
  session: Session,
  words: readonly string[],
  { kind, output, clusterId }: Asked & { readonly clusterId?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const found = await findEach(client, words, { kind, clusterId }, signal);
  if (output === "json" || output === "yaml") {
    const [only, ...others] = found;
    const shown = only !== undefined && others.length === 0 ? only : { [kind.plural]: found };
    terminal.write(await valueText(shown as unknown as Json, output));
    return;
  }
  await showRows(session, found, { kind, output }, signal);
  if (output !== "table") return;
  for (const one of found) {
    const reason = reasonOf(one);
    if (reason !== undefined) terminal.note(`${one.name}: ${reason}`);
  }
}

/**
 * Shows them until `signal`, at which it throws. What comes to be another than was asked for is shown once more, as it is
 * then: it is not gone.
 */
export async function watch(
  session: Session,
  words: readonly string[],
  { kind, output, filters }: Asked & { readonly filters: ListFilters },
  signal: AbortSignal,
): Promise<void> {
  const { client } = session;
  const { clusterId } = filters;
  // Names are looked up once: whatever has another id is something else.
  const named = await findEach(client, words, { kind, clusterId }, signal);
  const ids = new Set(named.map(({ id }) => id));
  const parents = await parentsOf(session, kind, signal);
  let matching: readonly Declared[] = [];
  const left = new Set<string>();
  const ask = async (): Promise<readonly Declared[]> => {
    const found = await listAll(client, kind, filters, signal);
    const present = new Set(found.map(({ id }) => id));
    const others: Declared[] = [];
    for (const { id } of matching.filter((one) => !present.has(one.id))) {
      const now = await findById(client, kind, id, signal);
      if (now !== undefined) others.push(now);
    }
    matching = words.length === 0 ? found : found.filter(({ id }) => ids.has(id));
    for (const { id } of matching) left.delete(id);
    for (const { id } of others) left.add(id);
    return [...matching, ...others];
  };
  await watchByAsking<Declared>(
    session,
    {
      output,
      columns: columns(session, { parents, isWide: output === "wide" }),
      nameOf: ({ name }) => name,
      goneOf: (one) =>
        left.has(one.id) ? one : { ...one, status: { ...one.status, phase: "deleted" } },
      ask,
    },
    signal,
  );
}

async function showRows(
  session: Session,
  found: readonly Declared[],
  { kind, output }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { terminal } = session;
  if (output === "name") {
    terminal.write(found.map(({ name }) => `${name}\n`).join(""));
    return;
  }
  const parents = await parentsOf(session, kind, signal);
  const table = new Table(columns(session, { parents, isWide: output === "wide" }));
  terminal.write(table.first(found));
}

/** The clusters of nodepools, by id. */
async function parentsOf(
  { client }: Session,
  { noun }: Kind,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Declared> | undefined> {
  if (noun === "cluster") return undefined;
  const found = await listAll(client, kinds.cluster, {}, signal);
  return new Map(found.map((one) => [one.id, one]));
}

/** With `parents`, by id, they are nodepools. */
function columns(
  { clock, paint }: Pick<Session, "clock" | "paint">,
  {
    parents,
    isWide,
  }: {
    readonly parents: ReadonlyMap<string, Declared> | undefined;
    readonly isWide: boolean;
  },
): readonly Column<Declared>[] {
  const parentOf = (one: Declared) => parents?.get(one.cluster_id ?? "");
  const usual: readonly Column<Declared>[] = [
    { heading: "NAME", of: ({ name }) => name },
    ...(parents === undefined
      ? []
      : [
          {
            heading: "CLUSTER",
            of: (one: Declared) => parentOf(one)?.name ?? one.cluster_id ?? "",
          },
        ]),
    {
      heading: "PLATFORM",
      of: (one) => platformOf(one.spec) ?? platformOf(parentOf(one)?.spec ?? {}) ?? "-",
    },
    {
      heading: "PHASE",
      of: ({ status }) => status.phase,
      paint: (text, { status }) => paintedAs(paint, status.phase, text),
    },
    { heading: "READY", of: readyOf },
    { heading: "GENERATION", of: ({ generation }) => String(generation) },
    { heading: "AGE", of: ({ created_at }) => ageOf(created_at, clock.now()) },
  ];
  if (!isWide) return usual;
  return [
    ...usual,
    { heading: "ID", of: ({ id }) => id },
    { heading: "OWNER", of: ({ created_by }) => created_by },
    { heading: "PROJECT", of: ({ target_project_id }) => target_project_id ?? "-" },
    { heading: "MESSAGE", of: (one) => reasonOf(one) ?? "" },
  ];
}

function readyOf({ status: { conditions } }: Declared): string {
  return conditions.find(({ type }) => type === "Ready")?.status ?? "Unknown";
}

function noneYet({ noun, plural }: Kind): string {
  const flags = noun === "cluster" ? "--platform gcp" : "--cluster NAME";
  return `there are no ${plural} yet: "keelson ${noun} create NAME ${flags}" makes one`;
}
