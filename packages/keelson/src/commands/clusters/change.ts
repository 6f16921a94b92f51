// Commands that do one thing to each that was named: delete, reconcile, pause, resume.

import { Refused } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import type { Session } from "../session.ts";
import { findEach, type FindOptions } from "./find.ts";
import { addressOf, type Kind } from "./shapes.ts";
import { waitFor } from "./wait.ts";

interface Asked extends FindOptions {
  readonly kind: Kind;
}

export interface DeleteOptions extends Asked {
  /** The phase that it is known to be in. */
  readonly confirm: string | undefined;
  /** Whether no controller is waited for. */
  readonly isForced: boolean;
  /** Undefined: does not wait. */
  readonly waitMs: number | undefined;
}

export async function remove(
  session: Session,
  words: readonly string[],
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const { kind, confirm, isForced, waitMs } = options;
  const found = await findEach(client, words, options, signal);
  for (const one of found) {
    const query = { confirm, ...(isForced ? { force: true } : {}) };
    await client.delete(addressOf(kind, one), query, signal).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.code !== "PHASE_FORBIDS_DELETE") throw error;
      const { phase } = error.details;
      if (typeof phase !== "string") throw error;
      throw new CommandError(
        `${one.name} is ${phase}${confirm === undefined ? "" : `, not ${confirm}`}: delete it with --confirm ${phase}, ` +
          "or with --force, which waits for no controller",
        { cause: error },
      );
    });
    tell(one.name, "deleting");
  }
  if (waitMs === undefined) return;
  await waitFor(session, found, { kind, goal: "gone", timeoutMs: waitMs }, signal);
}

const done = {
  reconcile: "asked to reconcile",
  pause: "paused",
  resume: "resumed",
} as const;

export type Verb = keyof typeof done;

/** Posts the verb to each. */
export async function ask(
  session: Session,
  words: readonly string[],
  { verb, ...options }: Asked & { readonly verb: Verb },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  for (const one of await findEach(client, words, options, signal)) {
    await client.post(`${addressOf(options.kind, one)}/${verb}`, undefined, signal);
    tell(one.name, done[verb]);
  }
}
