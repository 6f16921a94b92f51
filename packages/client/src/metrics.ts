// Every metric of the client. Labels come from closed sets: verbs, outcomes and kinds that this process uses.

import type { Metrics } from "@keelson/base";

import type { Failure, ListWay } from "./reflector/decide.ts";
import type { RetryReason } from "./retry.ts";

export type ClientMetrics = ReturnType<typeof clientMetrics>;

/** Each series is there from the start, at zero: an alert must tell "never" from "not yet". */
export function clientMetrics(metrics: Metrics) {
  const all = declare(metrics);
  all.waiting.add(0);
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
    for (const outcome of ["success", "error", "cancelled"]) all.requests.with({ method, outcome });
    all.requestSeconds.with({ method });
  }
  for (const reason of ["asked", "unavailable", "connection"] satisfies RetryReason[]) {
    all.retries.with({ reason });
  }
  for (const reason of ["deadline", "silence", "identity"]) all.connectionsRenewed.with({ reason });
  for (const way of ["stream", "pages"] satisfies ListWay[]) all.reflectorLists.with({ way });
  for (const end of ["done", ...failureTypes] as const) all.reflectorWatches.with({ end });
  return all;
}

const failureTypes = [
  "expired",
  "unsupported",
  "busy",
  "silence",
  "trouble",
  "doubt",
] as const satisfies Failure["type"][];

function declare(metrics: Metrics) {
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
