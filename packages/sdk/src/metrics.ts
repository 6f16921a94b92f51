import type { Counter, Histogram, Metrics } from "@keelson/base";

const eventResults = [
  "handled",
  "retried",
  "malformed",
  "unknown",
  "filtered",
  "own",
  "duplicate",
  "superseded",
] as const;

/** What becomes of events: worked on, or let go without a request. */
export type EventResult = (typeof eventResults)[number];

export interface SdkMetrics {
  readonly events: Counter<"result">;
  readonly reconciles: Counter<"result">;
  readonly reconcileSeconds: Histogram;
}

export function sdkMetrics(metrics: Metrics): SdkMetrics {
  const declared: SdkMetrics = {
    events: metrics.counter({
      name: "keelson_sdk_events_total",
      help: "Events that arrived, by what became of them",
      labels: ["result"],
    }),
    reconciles: metrics.counter({
      name: "keelson_sdk_reconciles_total",
      help: "Looks at a resource, by how they ended",
      labels: ["result"],
    }),
    reconcileSeconds: metrics.histogram({
      name: "keelson_sdk_reconcile_seconds",
      help: "Time that the controller's own code took for a resource",
    }),
  };
  for (const result of eventResults) declared.events.with({ result });
  return declared;
}
