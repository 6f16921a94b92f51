// Every metric of the client. Labels come from closed sets: verbs, outcomes and kinds that this process uses.

import type { Metrics } from "@keelson/base";

export type ClientMetrics = ReturnType<typeof clientMetrics>;

export function clientMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter({
      name: "keelson_client_requests_total",
      help: "Requests to clusters, by HTTP method and the class of what became of them",
      labels: ["method", "outcome"],
    }),
    requestSeconds: metrics.histogram({
      name: "keelson_client_request_seconds",
      help: "How long requests to clusters took, waiting and retries included",
      labels: ["method"],
    }),
    retries: metrics.counter({
      name: "keelson_client_retries_total",
      help: "Requests that were sent again, by the reason",
      labels: ["reason"],
    }),
    waiting: metrics.gauge({
      name: "keelson_client_requests_waiting",
      help: "Requests that wait for their turn under the rate limit",
    }),
    connectionsRenewed: metrics.counter({
      name: "keelson_client_connections_renewed_total",
      help: "Times the connections to a cluster were replaced, by the reason",
      labels: ["reason"],
    }),
    reflectorLists: metrics.counter({
      name: "keelson_client_reflector_lists_total",
      help: "Times a reflector read a whole collection, by the way",
      labels: ["way"],
    }),
    reflectorWatches: metrics.counter({
      name: "keelson_client_reflector_watches_total",
      help: "Watches that reflectors opened, by how they ended",
      labels: ["end"],
    }),
  };
}
