// How many objects there are of each resource, for the metrics.

import { isCancellation, type Clock } from "@keelson/base";
import { StoreError, type Store } from "@keelson/store";

import type { ApiMetrics } from "./metrics.ts";
import type { Registry } from "./resources/registry.ts";

/** How often they are counted. */
const countEveryMs = 30_000;

export interface ObjectCountsOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly metrics: Pick<ApiMetrics, "objects">;
  readonly clock: Clock;
}

/** Keeps the gauge. While the store cannot be asked it is absent: it never shows what once was. */
export async function runObjectCounts(
  { store, registry, metrics, clock }: ObjectCountsOptions,
  signal: AbortSignal,
): Promise<void> {
  let shown = new Set<string>();
  const show = (counts: ReadonlyMap<string, number>): void => {
    for (const resource of shown) if (!counts.has(resource)) metrics.objects.remove({ resource });
    for (const [resource, count] of counts) metrics.objects.set({ resource }, count);
    shown = new Set(counts.keys());
  };
  try {
    for (;;) {
      show(await countsOf(store, registry, signal));
      await clock.sleep(countEveryMs, signal);
    }
  } catch (error) {
    if (!isCancellation(error, signal)) throw error;
  }
}

/** By the name that a resource has in a URL with its group behind it: `deployments.apps`. */
async function countsOf(
  store: Store,
  registry: Registry,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  let byKind;
  try {
    byKind = await store.countByKind(signal);
  } catch (error) {
    if (error instanceof StoreError) return new Map();
    throw error;
  }
  const counts = new Map<string, number>();
  for (const { group, plural, storage } of registry.served.all) {
    if (storage === undefined) continue;
    counts.set(group === "" ? plural : `${plural}.${group}`, byKind.get(storage.kind) ?? 0);
  }
  return counts;
}
