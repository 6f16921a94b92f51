// `keelson target create`, `delete`, `pause` and `resume`: the clusters that resources are delivered to.

import { resolve } from "node:path";
import type { JsonObject } from "@keelson/base";
import { Refused, type Query } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import { portableKubeconfig } from "./portable-kubeconfig.ts";
import type { NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import { stillAfter, waitUntil } from "../wait-until.ts";
import { addressOf, noTarget, readTarget, type Target } from "./read-targets.ts";
import { asTrial, copyTrial, tellTrials, trialAnswer, type CopyTried } from "./trials.ts";

/** What a trial of a write tells. */
interface TargetTried {
  /** Null: there would be none. */
  readonly result: Target | null;
  readonly warnings: readonly { readonly message: string }[];
  readonly copies: readonly (CopyTried & Omit<NamedResource, "id" | "cluster_id">)[];
}

export interface TargetSettings {
  /** Undefined: none is sent. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly labels: readonly string[];
  readonly isAgent: boolean;
  readonly isPaused: boolean;
}

export async function createTarget(
  session: Session,
  name: string,
  settings: TargetSettings & { readonly isTrial: boolean; readonly waitMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, tell, workingFolder } = session;
  const { kubeconfig: shown, context, labels, isAgent, isPaused, isTrial, waitMs } = settings;
  if (shown === undefined && !isAgent) {
    throw usageError(
      "say how to reach it with --kubeconfig, or with --agent that a worker inside delivers",
    );
  }
  const body = {
    cluster_id: name,
    ...(shown === undefined
      ? {}
      : {
          kubeconfig: await portableKubeconfig(resolve(workingFolder, shown), { context, shown }),
        }),
    ...(labels.length === 0 ? {} : { labels: labelsOf(labels) }),
    ...(isAgent ? { agent: true } : {}),
    ...(isPaused ? { paused: true } : {}),
  };
  if (isTrial) {
    const request = client.post("/targets", body, signal, asTrial).catch((error: unknown) => {
      throw refusedTarget(name, error);
    });
    return tellTarget(session, name, createdWord, request);
  }
  const target = (await client.post("/targets", body, signal).catch((error: unknown) => {
    throw refusedTarget(name, error);
  })) as unknown as Target;
  tell(target.cluster_id, createdWord(target));
  if (isAgent) {
    terminal.note(
      `a worker inside the cluster delivers to it: keelson serve --roles worker --cluster-id ${name}`,
    );
  }
  if (waitMs !== undefined) await waitUntilHealthy(session, name, waitMs, signal);
}

/** The way out of a refusal. */
function refusedTarget(name: string, error: unknown): unknown {
  if (!(error instanceof Refused)) return error;
  if (error.code === "TARGET_EXISTS") {
    const change = `PUT /api/v1${addressOf(name)} gives it another kubeconfig or other labels`;
    const hint = `"keelson target get ${name}" shows it, and ${change}`;
    return new CommandError(`${error.message}: ${hint}`, { cause: error });
  }
  if (error.fields.some(({ field }) => /\.user\.(exec|auth-provider)$/.test(field))) {
    const hint =
      "take a user with a token or a certificate, or put it under targets: of the server's keelson.config.yaml";
    return new CommandError(`${error.message}: ${hint}`, { cause: error });
  }
  return error;
}

function createdWord(target: Target | null): string {
  return `created${target === null || target.server === null ? "" : `: ${target.server}`}`;
}

/** Says what would come of a target, and of the copies of global resources in it. */
async function tellTarget(
  session: Session,
  name: string,
  word: (target: Target | null) => string,
  request: Promise<JsonObject>,
): Promise<void> {
  const answer = await trialAnswer<TargetTried>(request);
  if ("error" in answer) return tellTrials(session, [{ name, word: "", answer }]);
  const { result, copies, warnings } = answer;
  session.tell(name, `${word(result)} (dry run)`);
  for (const { message } of warnings) session.terminal.note(`${name}: ${message}`);
  const trials = copies.map(({ namespace, kind, name: called, api_version, ...tried }) => {
    const copy = { cluster_id: name, namespace, kind, name: called, api_version };
    return copyTrial(session, copy, tried);
  });
  tellTrials(session, trials);
}

export async function deleteTarget(
  session: Session,
  name: string,
  { isOrphaning, isTrial }: { readonly isOrphaning: boolean; readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const query = isOrphaning ? { orphan: true } : {};
  let answer: JsonObject;
  try {
    if (isTrial) {
      const request = client.delete(addressOf(name), { ...query, ...asTrial }, signal);
      // It goes after the copies of global resources in it.
      const word = (target: Target | null) => (target === null ? "deleted" : "deleting");
      return await tellTarget(session, name, word, request);
    }
    answer = await client.delete(addressOf(name), query, signal);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 404) throw await noTarget(client, name, signal);
    if (error.code !== "TARGET_IN_USE") throw error;
    throw new CommandError(
      `${name} has resources: delete them with "keelson delete --all --cluster ${name}", ` +
        "or forget them and leave their objects with --orphan",
      { cause: error },
    );
  }
  // It goes after the copies of global resources in it.
  tell(name, answer["status"] === "deleting" ? "deleting" : "deleted");
}

/** Pauses, or resumes. */
export async function setTargetPaused(
  session: Session,
  name: string,
  { isPaused, isTrial }: { readonly isPaused: boolean; readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, tell } = session;
  const word = isPaused ? "paused" : "resumed";
  const send = (query: Query) => client.put(addressOf(name), { paused: isPaused }, signal, query);
  try {
    if (isTrial) return await tellTarget(session, name, () => word, send(asTrial));
    await send({});
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    throw await noTarget(client, name, signal);
  }
  tell(name, word);
}

async function waitUntilHealthy(
  session: Session,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const look = async (isLate: boolean): Promise<boolean> => {
    const { health, health_message, agent } = await readTarget(session.client, name, signal);
    if (health === "Healthy") return true;
    if (!isLate) return false;
    const unknown = agent ? "no worker inside it has told of it yet" : "no reason is known";
    const reason = health_message ?? unknown;
    throw new CommandError(`${name}: ${health}${stillAfter(timeoutMs)}: ${reason}`);
  };
  await waitUntil(session, timeoutMs, look, signal);
  session.tell(name, "Healthy");
}

function labelsOf(labels: readonly string[]): JsonObject {
  return Object.fromEntries(
    labels.map((label) => {
      const equals = label.indexOf("=");
      return [label.slice(0, equals), label.slice(equals + 1)];
    }),
  );
}
