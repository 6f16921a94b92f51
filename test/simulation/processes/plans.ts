// The watches of process rounds, and where they go on when their process was killed.

import type { HistoryRecord } from "../history.ts";
import type { WatchPlan } from "./protocol.ts";

/** Watches of every sort, for one worker. */
export function watchPlans(): WatchPlan[] {
  const thing = { kind: "Thing.example.dev", namespace: "" };
  const config = { kind: "ConfigMap", namespace: "" };
  return [
    { id: "all things", scope: thing, from: "state", pace: "fast" },
    { id: "all configs", scope: config, from: 1, pace: "fast" },
    { id: "slow", scope: thing, from: 1, pace: "slow" },
    {
      id: "selected",
      scope: thing,
      selector: { label: "app", value: "x" },
      from: "state",
      pace: "fast",
    },
    { id: "blue", scope: { ...config, namespace: "blue" }, from: "state", pace: "slow" },
  ];
}

/** The plans as they stand after what was seen: each from the last thing that its watcher got. */
export function resumed(
  plans: readonly WatchPlan[],
  records: readonly HistoryRecord[],
): WatchPlan[] {
  return plans.map((plan) => {
    let from = plan.from;
    let isComplete = from !== "state";
    for (const record of records) {
      if (!("watch" in record) || !record.watch.startsWith(`${plan.id}.`)) continue;
      if (record.type === "watch") {
        from = record.from;
        isComplete = from !== "state";
      }
      if (record.type !== "items") continue;
      for (const item of record.items) {
        isComplete ||= item.type === "BOOKMARK" && item.initialEventsEnd;
        if (isComplete) from = item.revision;
      }
    }
    return { ...plan, from };
  });
}
