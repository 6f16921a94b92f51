// The phase of each app as a metric, from the cache: what is gone there is gone here.

import type { DynamicObject } from "@keelson/client";
import type { ObjectCache } from "@keelson/controller";

import type { ApplicationSpec } from "../kinds/application.ts";
import { statusOf } from "./object-status.ts";
import type { OperatorMetrics, PhaseLabels } from "./metrics.ts";

/** Follows a cache until it is disposed of; then nothing is shown any more. */
export function followPhases(
  cache: ObjectCache,
  metrics: OperatorMetrics,
  labelsOf: (object: DynamicObject) => PhaseLabels = labelsOfApplication,
): Disposable {
  /** How many apps of a name there are, in whatever namespace: some series know no namespace. */
  const named = new Map<string, number>();
  const forget = (object: DynamicObject): void => {
    const labels = labelsOf(object);
    metrics.forgetPhase(labels);
    const left = (named.get(labels.app) ?? 1) - 1;
    named.set(labels.app, left);
    if (left > 0) return;
    named.delete(labels.app);
    metrics.forgetApp(labels.app);
  };
  const following = cache.subscribe((change) => {
    const { object } = change;
    if (change.type === "deleted") return forget(object);
    const labels = labelsOf(object);
    if (change.type === "added") named.set(labels.app, (named.get(labels.app) ?? 0) + 1);
    metrics.setPhase(labels, statusOf(object).phase ?? "Pending");
  });
  return {
    [Symbol.dispose]: () => {
      following[Symbol.dispose]();
      for (const object of cache.list()) forget(object);
    },
  };
}

/** Follows how many previews there are that are not being removed. */
export function followPreviews(cache: ObjectCache, metrics: OperatorMetrics): Disposable {
  const active = new Set<string>();
  metrics.setPreviews(0);
  const following = cache.subscribe(({ type, object }) => {
    const { uid = "", deletionTimestamp } = object.metadata;
    if (type === "deleted" || deletionTimestamp !== undefined) active.delete(uid);
    else active.add(uid);
    metrics.setPreviews(active.size);
  });
  return {
    [Symbol.dispose]: () => {
      following[Symbol.dispose]();
      metrics.setPreviews(undefined);
    },
  };
}

function labelsOfApplication({
  metadata: { namespace = "", name = "" },
  spec,
}: DynamicObject): PhaseLabels {
  const { environment = "" } = (spec ?? {}) as unknown as Partial<ApplicationSpec>;
  return { namespace, app: name, environment };
}
