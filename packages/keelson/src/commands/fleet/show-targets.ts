// `keelson target get`: which clusters there are, and whether they answer.

import type { Json } from "@keelson/base";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { paintedAs } from "../output/paint.ts";
import { Table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import { watchByAsking } from "../watch-list.ts";
import { listTargets, readTarget, type Target } from "./read-targets.ts";

interface Asked {
  readonly output: Output;
}

export async function showTargets(
  session: Session,
  names: readonly string[],
  { output }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { terminal } = session;
  const targets = await askFor(session, names, signal);
  if (output === "json" || output === "yaml") {
    const [only] = targets;
    const shown = names.length === 1 && only !== undefined ? only : { targets };
    terminal.write(await valueText(shown as unknown as Json, output));
    return;
  }
  if (output === "name") {
    terminal.write(targets.map(({ cluster_id }) => `${cluster_id}\n`).join(""));
    return;
  }
  if (targets.length === 0) {
    terminal.note(
      'there are no targets yet: "keelson target create NAME --kubeconfig FILE" makes one',
    );
    return;
  }
  terminal.write(new Table(columns(session, output)).first(targets));
  if (output === "wide" || names.length === 0) return;
  for (const { cluster_id, health_message } of targets) {
    if (health_message !== null) terminal.note(`${cluster_id}: ${health_message}`);
  }
}

/** Shows them until `signal`, at which it throws. */
export async function watchTargets(
  session: Session,
  names: readonly string[],
  { output }: Asked,
  signal: AbortSignal,
): Promise<void> {
  await askFor(session, names, signal); // A name that means nothing is told at once.
  type Row = Target & { readonly id: string };
  await watchByAsking<Row>(
    session,
    {
      output,
      columns: columns(session, output),
      nameOf: ({ cluster_id }) => cluster_id,
      bodyOf: ({ id: _key, ...target }) => target,
      // A cluster that is well is heard of every few seconds: that is no change.
      changeOf: ({ last_contact_at: _heard, ...target }) => target,
      goneOf: (target) => ({ ...target, health: "deleted", paused: false, deleting: false }),
      ask: async () =>
        (await listTargets(session.client, signal))
          .filter(({ cluster_id }) => names.length === 0 || names.includes(cluster_id))
          .map((target) => ({ ...target, id: target.cluster_id })),
    },
    signal,
  );
}

function askFor({ client }: Session, names: readonly string[], signal: AbortSignal) {
  return names.length === 0
    ? listTargets(client, signal)
    : Promise.all(names.map((name) => readTarget(client, name, signal)));
}

function columns(
  { clock, paint }: Pick<Session, "clock" | "paint">,
  output: Output,
): readonly Column<Target>[] {
  return [
    { heading: "NAME", of: ({ cluster_id }) => cluster_id },
    {
      heading: "HEALTH",
      of: healthOf,
      paint: (text, { health }) => paintedAs(paint, health, text),
    },
    { heading: "CONTACT", of: ({ last_contact_at }) => ageOf(last_contact_at, clock.now()) },
    { heading: "SERVER", of: ({ server, agent }) => (agent ? "agent" : (server ?? "-")) },
    { heading: "LABELS", of: ({ labels }) => labelsText(labels) },
    ...(output === "wide"
      ? [{ heading: "MESSAGE", of: ({ health_message }: Target) => health_message ?? "" }]
      : []),
  ];
}

function healthOf({ health, paused, deleting }: Target): string {
  if (deleting) return `${health},deleting`;
  return paused ? `${health},paused` : health;
}

function labelsText(labels: Target["labels"]): string {
  const all = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted();
  return all.length === 0 ? "-" : all.join(",");
}
