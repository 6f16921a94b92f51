// `keelson target …`: the clusters that resources are delivered to.

import { resolve } from "node:path";
import { Backoff, systemRandom, type Json, type JsonObject } from "@keelson/base";
import { Refused, type Query, type RestClient } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";
import { ageOf } from "../output/age.ts";
import { valueText, type Output } from "../output/formats.ts";
import { colourOf } from "../output/paint.ts";
import { Table } from "../output/table.ts";
import { portableKubeconfig } from "./portable-kubeconfig.ts";
import type { NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";
import { asTrial, copyTrial, tellTrials, trialAnswer, type CopyTried } from "./trials.ts";

interface Target {
  readonly cluster_id: string;
  readonly server: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly paused: boolean;
  readonly health: string;
  readonly health_message: string | null;
  readonly last_contact_at: string | null;
  readonly agent: boolean;
  readonly deleting: boolean;
}

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

export async function addTarget(
  session: Session,
  name: string,
  settings: TargetSettings & { readonly isTrial: boolean; readonly waitMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, workingFolder } = session;
  const { kubeconfig: shown, context, labels, isAgent, isPaused, isTrial, waitMs } = settings;
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
    const request = client.post("/targets", body, signal, asTrial);
    return tellTarget(session, name, addedWord, request);
  }
  const target = (await client.post("/targets", body, signal)) as unknown as Target;
  terminal.write(`${target.cluster_id} ${addedWord(target)}\n`);
  if (isAgent) {
    terminal.note(
      `a worker inside the cluster delivers to it: keelson serve --roles worker --cluster-id ${name}`,
    );
  }
  if (waitMs !== undefined) await waitUntilHealthy(session, name, waitMs, signal);
}

function addedWord(target: Target | null): string {
  return `added${target === null || target.server === null ? "" : `: ${target.server}`}`;
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
  session.terminal.write(`${name} ${word(result)} (dry run)\n`);
  for (const { message } of warnings) session.terminal.note(`${name}: ${message}`);
  const trials = copies.map(({ namespace, kind, name: called, api_version, ...tried }) => {
    const copy = { cluster_id: name, namespace, kind, name: called, api_version };
    return copyTrial(session, copy, tried);
  });
  tellTrials(session, trials);
}

export async function showTargets(
  session: Session,
  names: readonly string[],
  { output }: { readonly output: Output },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal, paint, clock } = session;
  const targets =
    names.length === 0
      ? await listTargets(client, signal)
      : await Promise.all(names.map((name) => readTarget(client, name, signal)));
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
      'there are no targets yet: "keelson target add NAME --kubeconfig FILE" makes one',
    );
    return;
  }
  const painted = (text: string, { health }: Target): string => {
    const colour = colourOf(health);
    return colour === undefined ? text : paint(colour, text);
  };
  const table = new Table<Target>([
    { heading: "NAME", of: ({ cluster_id }) => cluster_id },
    { heading: "HEALTH", of: healthOf, paint: painted },
    { heading: "CONTACT", of: ({ last_contact_at }) => ageOf(last_contact_at, clock.now()) },
    { heading: "SERVER", of: ({ server, agent }) => (agent ? "agent" : (server ?? "-")) },
    { heading: "LABELS", of: ({ labels }) => labelsText(labels) },
    ...(output === "wide"
      ? [{ heading: "MESSAGE", of: ({ health_message }: Target) => health_message ?? "" }]
      : []),
  ]);
  terminal.write(table.first(targets));
  if (output === "wide" || names.length === 0) return;
  for (const { cluster_id, health_message } of targets) {
    if (health_message !== null) terminal.note(`${cluster_id}: ${health_message}`);
  }
}

export async function removeTarget(
  session: Session,
  name: string,
  { isOrphaning, isTrial }: { readonly isOrphaning: boolean; readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const query = isOrphaning ? { orphan: true } : {};
  let answer: JsonObject;
  try {
    if (isTrial) {
      const request = client.delete(addressOf(name), { ...query, ...asTrial }, signal);
      // It goes after the copies of global resources in it.
      const word = (target: Target | null) => (target === null ? "removed" : "removing");
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
  terminal.write(`${name} ${answer["status"] === "deleting" ? "removing" : "removed"}\n`);
}

/** Pauses, or resumes. */
export async function setTargetPaused(
  session: Session,
  name: string,
  { isPaused, isTrial }: { readonly isPaused: boolean; readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const word = isPaused ? "paused" : "resumed";
  const send = (query: Query) => client.put(addressOf(name), { paused: isPaused }, signal, query);
  try {
    if (isTrial) return await tellTarget(session, name, () => word, send(asTrial));
    await send({});
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    throw await noTarget(client, name, signal);
  }
  terminal.write(`${name} ${word}\n`);
}

async function waitUntilHealthy(
  { client, clock, terminal }: Session,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const startMs = clock.monotonic();
  const backoff = new Backoff({ initialMs: 50, maxMs: 1_000, random: systemRandom });
  for (;;) {
    const { health, health_message } = await readTarget(client, name, signal);
    if (health === "Healthy") break;
    if (clock.monotonic() - startMs >= timeoutMs) {
      const reason = health_message ?? "no reason is known";
      throw new CommandError(`${name}: ${health} still, after ${timeoutMs / 1000} s: ${reason}`);
    }
    await clock.sleep(backoff.next(), signal);
  }
  terminal.write(`${name} Healthy\n`);
}

async function listTargets(client: RestClient, signal: AbortSignal): Promise<readonly Target[]> {
  const found: Target[] = [];
  for (let cursor: string | undefined; ;) {
    const page = (await client.get("/targets", { limit: 1_000, cursor }, signal)) as unknown as {
      readonly targets: readonly Target[];
      readonly next?: string | null;
    };
    found.push(...page.targets);
    if (page.next === null || page.next === undefined) return found;
    cursor = page.next;
  }
}

async function readTarget(client: RestClient, name: string, signal: AbortSignal): Promise<Target> {
  try {
    return (await client.get(addressOf(name), {}, signal)) as unknown as Target;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    throw await noTarget(client, name, signal);
  }
}

async function noTarget(
  client: RestClient,
  name: string,
  signal: AbortSignal,
): Promise<CommandError> {
  const { closest } = await import("../../config/closest.ts");
  const names = (await listTargets(client, signal)).map(({ cluster_id }) => cluster_id);
  const meant = closest(name, names);
  const hint = meant === undefined ? '"keelson target list" shows them' : `did you mean ${meant}?`;
  return new CommandError(`there is no target ${name}: ${hint}`);
}

function addressOf(name: string): string {
  return `/targets/${encodeURIComponent(name)}`;
}

function healthOf({ health, paused, deleting }: Target): string {
  if (deleting) return `${health},removing`;
  return paused ? `${health},paused` : health;
}

function labelsOf(labels: readonly string[]): JsonObject {
  return Object.fromEntries(
    labels.map((label) => {
      const equals = label.indexOf("=");
      return [label.slice(0, equals), label.slice(equals + 1)];
    }),
  );
}

function labelsText(labels: Target["labels"]): string {
  const all = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted();
  return all.length === 0 ? "-" : all.join(",");
}
