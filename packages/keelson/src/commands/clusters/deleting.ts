// Whom a deletion waits for: controllers that have not let go, and nodepools that are still there.

import { isJsonObject, type JsonObject } from "@keelson/base";
import type { RestClient } from "../client/rest-client.ts";
import { readHistory } from "./events.ts";
import { addressOf, kinds, type Declared, type Kind } from "./shapes.ts";

export interface Awaited {
  /** Those whom it waited for when it was asked for: their reports say who has let go since. */
  readonly controllers: readonly string[];
  /** The newest of them. */
  readonly nodepools: readonly Declared[];
  readonly nodepoolsTotal: number;
}

/** How many nodepools are shown. */
const nodepoolsMax = 10;
/** How far back the event of the deletion is looked for. */
const eventsMax = 1_000;

export async function readAwaited(
  client: RestClient,
  { kind, found }: { readonly kind: Kind; readonly found: Declared },
  signal: AbortSignal,
): Promise<Awaited> {
  const controllers = await namedByEvent(client, { kind, found }, signal);
  if (kind.noun === "nodepool") return { controllers, nodepools: [], nodepoolsTotal: 0 };
  const query = { clusterId: found.id, limit: nodepoolsMax };
  const page = (await client.get(`/${kinds.nodepool.plural}`, query, signal)) as unknown as {
    readonly nodepools: readonly Declared[];
    readonly total: number;
  };
  return { controllers, nodepools: page.nodepools, nodepoolsTotal: page.total };
}

/** Nobody where the event has no place yet, or where the deletion was asked for by SQL, which tells of nothing. */
async function namedByEvent(
  client: RestClient,
  { kind, found }: { readonly kind: Kind; readonly found: Declared },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const type = `${kind.noun}.deleted`;
  const isAsking = (event: JsonObject): boolean => event["type"] === type;
  const reach = { limit: eventsMax, isKnown: isAsking };
  const events = await readHistory(client, addressOf(kind, found), reach, signal);
  const { metadata } = events.find(isAsking) ?? {};
  const names = metadata !== undefined && isJsonObject(metadata) ? metadata["finalizers"] : [];
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}
