// `keelson history` and `keelson rollback`: what a resource was, and back to it.

import { Refused, type Query } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import type { Output } from "../output/formats.ts";
import { selectToChange, type ChangeOptions } from "./change.ts";
import { pendingText, wouldChange } from "./diff-manifests.ts";
import { diffText, isOurs } from "./diff.ts";
import { isOfGlobal, refuseCopies } from "./global-copies.ts";
import {
  findDetails,
  fullName,
  type ListedResource,
  type ResourceDetails,
  type Revision,
} from "./resource-shapes.ts";
import { readRevisions, showRevisions } from "./revisions-table.ts";
import type { Session } from "../session.ts";
import { asTrial, tellTrials, trialAnswer } from "./trials.ts";
import { waitFor } from "./wait.ts";

type OneOptions = Pick<ChangeOptions, "filters">;

export async function history(
  session: Session,
  words: readonly string[],
  { output, limit, filters }: OneOptions & { readonly output: Output; readonly limit: number },
  signal: AbortSignal,
): Promise<void> {
  const { id } = await theOne(session, words, { filters }, signal);
  const [details, revisions] = await Promise.all([
    whole(session, id, signal),
    // One more than is shown: it tells what the oldest that is shown has changed.
    readRevisions(session, `/resources/${id}`, limit + 1, signal),
  ]);
  await showRevisions(session, revisions, {
    output,
    limit,
    stateOf: (revision) => stateOf(revision, details),
  });
}

export async function rollback(
  session: Session,
  words: readonly string[],
  {
    toRevision,
    toGeneration,
    isTrial,
    waitMs,
    filters,
  }: OneOptions & {
    readonly toRevision: number | undefined;
    readonly toGeneration: number | undefined;
    readonly isTrial: boolean;
    readonly waitMs: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, tell, isForPeople } = session;
  const resource = await theOne(session, words, { filters }, signal);
  const name = fullName(resource);
  if (toRevision !== undefined && toGeneration !== undefined) {
    throw usageError("give --to-revision or --to-generation, not both");
  }
  if (toRevision === undefined && toGeneration === undefined) {
    const known = await readRevisions(session, `/resources/${resource.id}`, 10, signal);
    const numbers = [...new Set(known.map(({ revision }) => revision))];
    throw usageError(
      `say where to, with --to-revision or --to-generation: ${name} is at revision ${resource.revision}` +
        ` and was at ${numbers.filter((one) => one !== resource.revision).join(", ") || "no other"}` +
        `; "keelson history ${name}" shows them`,
    );
  }
  const body =
    toRevision === undefined ? { restore_generation: toGeneration ?? 0 } : { revision: toRevision };
  const put = (query: Query) =>
    client.put(`/resources/${resource.id}`, body, signal, query).catch((error: unknown) => {
      if (isOfGlobal(error)) refuseCopies([resource], "rollback --to-revision N");
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      throw new CommandError(`${error.message}: "keelson history ${name}" shows what is`, {
        cause: error,
      });
    });
  if (isTrial) {
    const answer = await trialAnswer(put(asTrial));
    const where =
      toRevision === undefined ? `generation ${toGeneration}` : `revision ${toRevision}`;
    const fields = "diff" in answer ? answer.diff.filter(wouldChange).filter(isOurs) : [];
    if (fields.length > 0 && isForPeople)
      terminal.write(await diffText(session, name, fields, pendingText));
    tellTrials(session, [{ name, word: `rolled back to ${where}`, answer }]);
    return;
  }
  const { generation, revision } = (await put({})) as unknown as Pick<
    ListedResource,
    "generation" | "revision"
  >;
  tell(
    name,
    generation === resource.generation
      ? `is at revision ${revision} already`
      : `rolled back to revision ${revision} (generation ${generation})`,
  );
  if (waitMs !== undefined) {
    await waitFor(session, [resource], { goal: "synced", timeoutMs: waitMs }, signal);
  }
}

/** The one resource that the words name. */
async function theOne(
  session: Session,
  words: readonly string[],
  { filters }: OneOptions,
  signal: AbortSignal,
): Promise<ListedResource> {
  const options = { filters, isAll: false, isOne: true };
  const found = await selectToChange(session, words, options, signal);
  const [only, ...others] = found;
  if (only === undefined) throw new CommandError("no resource matches");
  if (others.length > 0) throw usageError("name one resource at a time");
  return only;
}

async function whole(
  { client }: Session,
  id: number,
  signal: AbortSignal,
): Promise<ResourceDetails> {
  const details = await findDetails(client, id, signal);
  if (details === undefined) throw new CommandError("the resource has just gone");
  return details;
}

function stateOf(
  { generation }: Revision,
  { applied, generation: wanted }: ResourceDetails,
): string {
  if (applied?.generation === generation)
    return wanted === generation ? "applied" : "still applied";
  return wanted === generation ? "wanted" : "";
}
