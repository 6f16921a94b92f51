// What is left of routes that another controller was told: nobody watches their kind any more, which the cluster need
// not even serve.

import type { Clock, Log } from "@keelson/base";
import { hasCode, refOf, UnknownKind, type Client, type DynamicObject } from "@keelson/client";

import { fieldManager, managedByLabel } from "../children/child.ts";
import { ownerKey, parseOwner } from "../ownership/owner.ts";
import { middlewareKind } from "../workload/routing.ts";
import { applicationKind } from "./applications.ts";
import type { OperatorSettings } from "./settings.ts";

export interface ObsoleteRoutesOptions {
  readonly client: Pick<Client, "resource">;
  readonly settings: Pick<OperatorSettings, "ingressRewrite">;
  readonly clock: Clock;
  readonly log: Log;
}

const retryMs = 30_000;

/** Removes our Middlewares where traefik is spoken to no more; once a term. Ends early where there can be none. */
export async function removeObsoleteRoutes(
  { client, settings, clock, log }: ObsoleteRoutesOptions,
  signal: AbortSignal,
): Promise<void> {
  if (settings.ingressRewrite === "traefik") return;
  while (!signal.aborted) {
    try {
      await removeMiddlewares(client, signal);
      return;
    } catch (error) {
      if (signal.aborted || error instanceof UnknownKind || hasCode(error, 404)) return;
      log.warn({ error }, "Middlewares of traefik that nobody needs any more could not be removed");
      // Without the right to it nothing changes while we run.
      if (hasCode(error, 403)) return;
      await clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }
}

async function removeMiddlewares(
  client: ObsoleteRoutesOptions["client"],
  signal: AbortSignal,
): Promise<void> {
  const middlewares = await client.resource(middlewareKind, signal);
  const labelSelector = `${managedByLabel}=${fieldManager}`;
  const { items } = await middlewares.list({ labelSelector }, signal);
  for (const middleware of items.filter(isAnApps)) {
    const { uid = "" } = middleware.metadata;
    await middlewares.delete({ ...refOf(middleware), preconditions: { uid } }, signal);
  }
}

/** Our label alone does not make it an app's: it must name its owner. A copy that does so, too, is not told apart. */
function isAnApps({
  metadata: { annotations = {}, ownerReferences = [] },
}: DynamicObject): boolean {
  const { apiVersion, kind } = applicationKind;
  return (
    parseOwner(annotations[ownerKey]) !== undefined ||
    ownerReferences.some((owner) => owner.apiVersion === apiVersion && owner.kind === kind)
  );
}
