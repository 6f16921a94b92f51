// Targets as the API shows them, and by their names.

import { Refused, type RestClient } from "../client/rest-client.ts";
import { CommandError } from "../command-error.ts";

export interface Target {
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

export async function listTargets(
  client: RestClient,
  signal: AbortSignal,
): Promise<readonly Target[]> {
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

export async function readTarget(
  client: RestClient,
  name: string,
  signal: AbortSignal,
): Promise<Target> {
  const found = await client.find(addressOf(name), signal);
  if (found === undefined) throw await noTarget(client, name, signal);
  return found as unknown as Target;
}

/** The target that an unknown one was probably to be; undefined where it is known, and for those who may not see targets. */
export async function meantTarget(
  client: RestClient,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { closest } = await import("../../config/closest.ts");
  try {
    const names = (await listTargets(client, signal)).map(({ cluster_id }) => cluster_id);
    return names.includes(name) ? undefined : closest(name, names);
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return undefined;
    throw error;
  }
}

export async function noTarget(
  client: RestClient,
  name: string,
  signal: AbortSignal,
): Promise<CommandError> {
  const meant = await meantTarget(client, name, signal);
  const hint = meant === undefined ? '"keelson target get" shows them' : `did you mean ${meant}?`;
  return new CommandError(`there is no target ${name}: ${hint}`);
}

export function addressOf(name: string): string {
  return `/targets/${encodeURIComponent(name)}`;
}
