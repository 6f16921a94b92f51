// What the host calls available: it asks each APIService for the document of its version (KB §3.9).

import type { Clock } from "@keelson/base";
import { Unavailable, type Store } from "@keelson/store";

import type { PathHandler } from "../api-handler.ts";

/** How long the database may take. The host waits for five seconds. */
const pingMs = 2_000;

/**
 * Refuses the documents of versions while the database is away, so that the host's condition says so too. Whatever lists the
 * versions stays: clients go on knowing which kinds there are.
 */
export function versionAvailability({
  store,
  clock,
}: {
  readonly store: Pick<Store, "ping">;
  readonly clock: Clock;
}): PathHandler {
  return async ({ path, signal }) => {
    if (!/^\/apis\/[^/]+\/[^/]+\/?$/.test(path)) return undefined;
    const timeUp = clock.timeout(pingMs);
    try {
      await store.ping(AbortSignal.any([signal, timeUp]));
    } catch (error) {
      if (!timeUp.aborted) throw error;
      throw new Unavailable("it does not answer", { cause: error });
    }
    return undefined;
  };
}
