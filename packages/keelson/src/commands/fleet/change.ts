// Commands that do one thing to each resource that was named: sync, pause, resume, delete.

import type { JsonObject } from "@keelson/base";
import type { Query } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import {
  copyText,
  isOfGlobal,
  refuseCopies,
  refusedCopies,
  type GlobalVerb,
} from "./global-copies.ts";
import { readReferences } from "./reference.ts";
import { fullName, groupOf, type ListedResource } from "./resource-shapes.ts";
import { eachOnce, listResources, noneText, refuseMany, select, type Filters } from "./select.ts";
import type { Session } from "../session.ts";
import { asTrial, tellTrials, trialAnswer, type Trial } from "./trials.ts";
import { waitFor } from "./wait.ts";
import { readWanted, type ManifestOptions } from "./wanted.ts";

export interface ChangeOptions {
  readonly filters: Filters;
  /** Whether all that was named is meant, however many they are. */
  readonly isAll: boolean;
  /** Whether it is only tried. */
  readonly isTrial: boolean;
  /** Undefined: does not wait. */
  readonly waitMs: number | undefined;
}

/** The resources that `words` name for a command that changes them; one, where it has no flag for more. */
export async function selectToChange(
  session: Session,
  words: readonly string[],
  {
    filters,
    isAll,
    isOne = false,
  }: Pick<ChangeOptions, "filters" | "isAll"> & { readonly isOne?: boolean },
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const { client } = session;
  const builtin = await session.kindNames();
  const references = readReferences(words, builtin, { takesNames: true });
  const selected = await select(client, references, { filters, builtin }, signal);
  refuseMany(selected, { filters, isAll, isOne });
  const found = await eachOnce(client, selected, filters, signal);
  if (found.length === 0) session.terminal.note(await noneText(client, words, filters, signal));
  return found;
}

/** A write to each resource that was named, and what is said of it. */
interface Change {
  readonly verb: GlobalVerb | "sync";
  readonly isTrial: boolean;
  readonly send: (resource: ListedResource, query: Query) => Promise<JsonObject>;
  readonly word: (resource: ListedResource) => string;
}

interface Changed {
  readonly changed: readonly ListedResource[];
  /** Copies of global resources, which were left as they are: whoever meant many did not mean to stop there. */
  readonly copies: readonly ListedResource[];
}

/** Makes it, one after the other, or only tries it: then it fails at the end if any would be refused. */
async function changeEach(
  session: Session,
  resources: readonly ListedResource[],
  { verb, isTrial, send, word }: Change,
): Promise<Changed> {
  const trials: Trial[] = [];
  const [changed, copies]: [ListedResource[], ListedResource[]] = [[], []];
  for (const resource of resources) {
    const name = fullName(resource);
    try {
      if (isTrial) {
        const answer = await trialAnswer(send(resource, asTrial));
        trials.push({ name, word: word(resource), answer });
      } else {
        await send(resource, {});
        session.tell(name, word(resource));
        changed.push(resource);
      }
    } catch (error) {
      if (verb === "sync" || !isOfGlobal(error)) throw error;
      const answer = { error: `it is ${copyText(resource, verb)}` };
      if (isTrial) trials.push({ name, word: word(resource), answer });
      else copies.push(resource);
    }
  }
  tellTrials(session, trials);
  return { changed, copies };
}

/** Asks for an apply now. */
export async function sync(
  session: Session,
  words: readonly string[],
  options: ChangeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const { isTrial, waitMs } = options;
  const resources = await selectToChange(session, words, options, signal);
  await changeEach(session, resources, {
    verb: "sync",
    isTrial,
    send: ({ id }, query) => client.post(`/resources/${id}/sync`, undefined, signal, query),
    word: () => "asked to sync",
  });
  if (isTrial) return; // A trial says itself what is paused.
  for (const resource of resources) {
    if (!resource.paused) continue;
    terminal.note(`${fullName(resource)} is paused: nothing is applied until it is resumed`);
  }
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
  const verb = isPaused ? "pause" : "resume";
  const resources = await selectToChange(session, words, options, signal);
  const { copies } = await changeEach(session, resources, {
    verb,
    isTrial: options.isTrial,
    send: ({ id }, query) =>
      session.client.post(`/resources/${id}/${verb}`, undefined, signal, query),
    word: ({ paused }) =>
      `${paused === isPaused ? "already " : ""}${isPaused ? "paused" : "resumed"}`,
  });
  refuseCopies(copies, verb);
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
  const { manifests, ignoresMissing, isOrphaning, isTrial, waitMs } = options;
  if (ignoresMissing && manifests === undefined) {
    throw usageError("--ignore-not-found goes with -f");
  }
  const resources =
    manifests === undefined
      ? await selectToChange(session, words, options, signal)
      : await declaredIn(session, manifests, options, signal);
  const orphan = isOrphaning ? { orphan: true } : {};
  const verb = isOrphaning ? "delete --orphan" : "delete";
  const { changed, copies } = await changeEach(session, resources, {
    verb,
    isTrial,
    send: ({ id }, query) =>
      session.client.delete(`/resources/${id}`, { ...orphan, ...query }, signal),
    word: () => (isOrphaning ? "forgotten, its object stays" : "deleting"),
  });
  if (waitMs !== undefined && !isOrphaning) {
    try {
      await waitFor(session, changed, { goal: "gone", timeoutMs: waitMs }, signal);
    } catch (error) {
      for (const line of refusedCopies(copies, verb)) session.terminal.note(line);
      throw error;
    }
  }
  refuseCopies(copies, verb);
}

/** The resources that manifests declare. Throws before anything is deleted if one is not there. */
async function declaredIn(
  session: Session,
  manifests: ManifestOptions,
  { ignoresMissing }: Pick<DeleteOptions, "ignoresMissing">,
  signal: AbortSignal,
): Promise<readonly ListedResource[]> {
  const found: ListedResource[] = [];
  const wanted = await readWanted(session, { ...manifests, isQuiet: true }, signal);
  for (const { clusterId, desired } of wanted) {
    const { namespace, kind, name, api_version } = desired;
    const query = { cluster_id: clusterId, namespace, kind, name };
    const listed = await listResources(session.client, { labels: [] }, query, signal);
    // Kinds of two groups may have one name, as Service has.
    const group = groupOf(api_version);
    const resource = listed.find((one) => groupOf(one.api_version) === group);
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
