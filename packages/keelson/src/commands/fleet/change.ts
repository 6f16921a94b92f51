// Commands that do one thing to each resource that was named: sync, pause, resume, delete.

import { CommandError } from "../command-error.ts";
import { readReferences } from "./reference.ts";
import { fullName, type ListedResource } from "./resource-shapes.ts";
import { listResources, select, toChange, type Filters } from "./select.ts";
import type { Session } from "../session.ts";
import { waitFor } from "./wait.ts";
import { readWanted, type ManifestOptions } from "./wanted.ts";

export interface ChangeOptions {
  readonly filters: Filters;
  /** Whether all that was named is meant, however many they are. */
  readonly isAll: boolean;
  /** Undefined: does not wait. */
  readonly waitMs: number | undefined;
}

/** The resources that `words` name for a command that changes them. */
export async function selectToChange(
  session: Session,
  words: readonly string[],
  options: Pick<ChangeOptions, "filters" | "isAll">,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const builtin = await session.kindNames();
  const references = readReferences(words, builtin, { takesNames: true });
  const { filters } = options;
  const selected = await select(session.client, references, { filters, builtin }, signal);
  return toChange(selected, options);
}

/** Asks for an apply now. */
export async function sync(
  session: Session,
  words: readonly string[],
  options: ChangeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const resources = await selectToChange(session, words, options, signal);
  for (const resource of resources) {
    await client.post(`/resources/${resource.id}/sync`, undefined, signal);
    terminal.write(`${fullName(resource)} asked to sync\n`);
    if (resource.paused) {
      terminal.note(`${fullName(resource)} is paused: nothing is applied until it is resumed`);
    }
  }
  const { waitMs } = options;
  if (waitMs !== undefined) {
    await waitFor(session, resources, { goal: "synced", timeoutMs: waitMs }, signal);
  }
}

/** Pauses, or resumes. */
export async function setPaused(
  session: Session,
  words: readonly string[],
  { isPaused, ...options }: ChangeOptions & { readonly isPaused: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const verb = isPaused ? "pause" : "resume";
  for (const resource of await selectToChange(session, words, options, signal)) {
    await client.post(`/resources/${resource.id}/${verb}`, undefined, signal);
    const was = resource.paused === isPaused ? "already " : "";
    terminal.write(`${fullName(resource)} ${was}${isPaused ? "paused" : "resumed"}\n`);
  }
}

export interface DeleteOptions extends ChangeOptions {
  /** What is to go, by manifests instead of names. */
  readonly manifests: ManifestOptions | undefined;
  /** Whether manifests may declare what is not there. */
  readonly ignoresMissing: boolean;
  /** Whether the objects stay in their clusters. */
  readonly isOrphaning: boolean;
}

export async function remove(
  session: Session,
  words: readonly string[],
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const { manifests, isOrphaning, waitMs } = options;
  const resources =
    manifests === undefined
      ? await selectToChange(session, words, options, signal)
      : await declaredIn(session, manifests, options, signal);
  for (const resource of resources) {
    const query = isOrphaning ? { orphan: true } : {};
    await client.delete(`/resources/${resource.id}`, query, signal);
    const done = isOrphaning ? "forgotten, its object stays" : "deleting";
    terminal.write(`${fullName(resource)} ${done}\n`);
  }
  if (waitMs !== undefined && !isOrphaning) {
    await waitFor(session, resources, { goal: "gone", timeoutMs: waitMs }, signal);
  }
}

/** The resources that manifests declare. Throws before anything is deleted if one is not there. */
async function declaredIn(
  session: Session,
  manifests: ManifestOptions,
  { ignoresMissing }: Pick<DeleteOptions, "ignoresMissing">,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const found: ListedResource[] = [];
  for (const { clusterId, desired } of await readWanted(session, manifests, { isQuiet: true })) {
    const { namespace, kind, name, api_version } = desired;
    const query = { cluster_id: clusterId, namespace, kind, name };
    const [resource] = await listResources(session.client, { labels: [] }, query, signal);
    if (resource === undefined && !ignoresMissing) {
      const missing = fullName({ cluster_id: clusterId, namespace, kind, name, api_version });
      throw new CommandError(
        `there is no resource ${missing}: nothing was deleted; --ignore-not-found deletes the others`,
      );
    }
    if (resource !== undefined) found.push(resource);
  }
  return found;
}
