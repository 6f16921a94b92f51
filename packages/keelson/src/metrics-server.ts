// Metrics on a listener of their own, which needs no authentication and shows nothing that does.

import type { FastifyInstance } from "fastify";
import { isLoopbackHost } from "./loopback.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { addHealthRoutes, type HealthRoutesOptions } from "./rest/health-routes.ts";
import { believingAuthenticator } from "./rest/identity/none.ts";
import { buildRest, type RestOptions, type RestServer } from "./rest/server.ts";

export interface MetricsServerOptions
  extends
    HealthRoutesOptions,
    Pick<RestOptions, "clock" | "random" | "log" | "logsRequests" | "limits"> {
  readonly address: string;
  readonly metrics: PrometheusMetrics;
}

/** `/metrics`, and health for replicas that serve nothing else. */
export function buildMetricsServer(options: MetricsServerOptions): Promise<RestServer> {
  const { address, metrics } = options;
  return buildRest({
    ...options,
    // Beyond this machine it is asked by other names than this machine's; there is nothing here to steal or do.
    authenticator: { ...believingAuthenticator(), isAuthenticated: !isLoopbackHost(address) },
    corsOrigins: undefined,
    modules: [
      {
        name: "metrics",
        prefix: "",
        bodyBytesMax: 1_024,
        routes: () => (app: FastifyInstance, _options, done) => {
          app.get("/metrics", { config: { isPublic: true } }, async (_request, reply) => {
            reply.type(metrics.contentType);
            return metrics.text();
          });
          addHealthRoutes(app, options);
          done();
        },
      },
    ],
  });
}
