// `keelson global get`: which global resources there are, and how far they got.

import type { Json } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import {
  readGlobal,
  selectGlobals,
  type ClusterStatus,
  type ListedGlobal,
  type Place,
} from "./read-globals.ts";
import { shortName } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

export async function showGlobals(
  session: Session,
  words: readonly string[],
  { output, ...place }: Place & { readonly output: Output },
  signal: AbortSignal,
): Promise<void> {
  const { terminal } = session;
  const globals = await selectGlobals(session, words, place, signal);
  const [only] = globals;
  const isOne = globals.length === 1 && /[/\d]/.test(words[0] ?? "");
  const details =
    isOne && only !== undefined ? await readGlobal(session, only.id, signal) : undefined;
  if (output === "json" || output === "yaml") {
    const value = details ?? { global_resources: globals };
    terminal.write(await valueText(value as unknown as Json, output));
    return;
  }
  if (output === "name") {
    terminal.write(globals.map((one) => `${shortName(one)}\n`).join(""));
    return;
  }
  if (globals.length === 0) {
    terminal.note(
      words.length > 0 || place.namespace !== undefined
        ? "no global resource matches"
        : 'there are no global resources yet: "keelson global apply -f FILE" makes some',
    );
    return;
  }
  const table = new Table(globalColumns(session, output));
  terminal.write(table.first(globals));
  if (details === undefined || details.cluster_statuses.length === 0) return;
  const clusters = new Table<ClusterStatus>([
    { heading: "CLUSTER", of: ({ cluster_id }) => cluster_id },
    {
      heading: "STATUS",
      of: ({ status }) => status,
      paint: (text, { status }) => paintedAs(session.paint, status, text),
    },
    {
      heading: "SYNCED GENERATION",
      of: ({ synced_generation }) => (synced_generation === null ? "-" : String(synced_generation)),
    },
  ]);
  terminal.write(`\n${clusters.first(details.cluster_statuses)}`);
}

/** The columns of a list of global resources. */
export function globalColumns(session: Session, output: Output): readonly Column<ListedGlobal>[] {
  const { clock } = session;
  return [
    { heading: "NAME", of: shortName },
    { heading: "NAMESPACE", of: ({ namespace }) => (namespace === "" ? "-" : namespace) },
    {
      heading: "STATUS",
      of: ({ status, paused }) => (paused ? `${status},paused` : status),
      paint: (text, { status }) => paintedAs(session.paint, status, text),
    },
    {
      heading: "CLUSTERS",
      of: ({ synced_clusters, total_clusters }) => `${synced_clusters}/${total_clusters}`,
    },
    { heading: "REVISION", of: ({ revision }) => String(revision) },
    { heading: "AGE", of: ({ created_at }) => ageOf(created_at, clock.now()) },
    ...(output === "wide"
      ? [
          { heading: "ID", of: ({ id }: ListedGlobal) => String(id) },
          { heading: "GENERATION", of: ({ generation }: ListedGlobal) => String(generation) },
          { heading: "API VERSION", of: ({ api_version }: ListedGlobal) => api_version },
        ]
      : []),
  ];
}
