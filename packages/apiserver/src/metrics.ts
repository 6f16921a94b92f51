// Every metric of the API server.

import type { Metrics } from "@keelson/base";

export type ApiMetrics = ReturnType<typeof apiMetrics>;

const request = ["verb", "group", "version", "resource", "subresource", "code"] as const;

export function apiMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter({
      name: "apiserver_request_total",
      help: "Finished requests, by what they asked for and how they ended",
      labels: request,
    }),
    requestSeconds: metrics.histogram({
      name: "apiserver_request_duration_seconds",
      help: "How long requests took; watches are not among them",
      labels: request,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    }),
    inflight: metrics.gauge({
      name: "apiserver_current_inflight_requests",
      help: "Requests that are being answered; watches are not among them",
    }),
    longRunning: metrics.gauge({
      name: "apiserver_longrunning_requests",
      help: "Watches that are open",
      labels: ["group", "version", "resource"],
    }),
    watchEvents: metrics.counter({
      name: "apiserver_watch_events_total",
      help: "Events handed to the sockets of watchers",
      labels: ["group", "version", "kind"],
    }),
    objects: metrics.gauge({
      name: "apiserver_storage_objects",
      help: "Objects in the store, by resource",
      labels: ["resource"],
    }),
  };
}
