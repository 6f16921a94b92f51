// Every metric of the controllers. Labels are the names of controllers, kinds and leases: few, and known at the start.

import type { Metrics } from "@keelson/base";

export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

export function controllerMetrics(metrics: Metrics) {
  return {
    runs: metrics.counter({
      name: "keelson_controller_runs_total",
      help: "Runs of reconcilers, by how they ended",
      labels: ["controller", "outcome"],
    }),
    runSeconds: metrics.histogram({
      name: "keelson_controller_run_seconds",
      help: "How long runs of reconcilers took",
      labels: ["controller"],
    }),
    waitSeconds: metrics.histogram({
      name: "keelson_controller_wait_seconds",
      help: "How long keys that were ready waited for their run",
      labels: ["controller"],
    }),
    ready: metrics.gauge({
      name: "keelson_controller_queue_ready",
      help: "Keys that are ready to be run",
      labels: ["controller"],
    }),
    delayed: metrics.gauge({
      name: "keelson_controller_queue_delayed",
      help: "Keys that wait for their time: after a failure, or since they were asked to",
      labels: ["controller"],
    }),
    running: metrics.gauge({
      name: "keelson_controller_running",
      help: "Runs under way",
      labels: ["controller"],
    }),
    cachedObjects: metrics.gauge({
      name: "keelson_controller_cached_objects",
      help: "Objects in the caches of a kind, one that is in two of them twice",
      labels: ["kind"],
    }),
    caches: metrics.gauge({
      name: "keelson_controller_caches",
      help: "Caches of a kind, one for each selection of it",
      labels: ["kind"],
    }),
    liveCaches: metrics.gauge({
      name: "keelson_controller_cache_live",
      help: "Caches of a kind that follow their collection: as many as there are, unless something is wrong",
      labels: ["kind"],
    }),
    leader: metrics.gauge({
      name: "keelson_controller_leader",
      help: "1 while this process leads, 0 while it does not",
      labels: ["lease"],
    }),
    events: metrics.counter({
      name: "keelson_controller_events_total",
      help: "Events about objects, by what became of them",
      labels: ["outcome"],
    }),
  };
}
