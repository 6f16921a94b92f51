// Fleet's routes, in the shape that the REST server takes.

import type { Clock, Identity, Log, Metrics } from "@keelson/base";
import type { FastifyPluginCallback, FastifyRequest } from "fastify";
import type { EventLog } from "./events/event-log.ts";
import {
  addEventRoutes,
  usualEventLimits,
  type EventLimits,
  type TopicEvents,
} from "./events/routes.ts";
import type { GlobalDryRuns } from "./globals/global-dry-runs.ts";
import type { Globals } from "./globals/globals.ts";
import { addGlobalRoutes } from "./globals/routes.ts";
import type { DryRuns } from "./resources/dry-runs.ts";
import type { Resources } from "./resources/resources.ts";
import { addResourceRoutes } from "./resources/routes.ts";
import { addTargetRoutes } from "./targets/routes.ts";
import type { TargetDryRuns } from "./targets/target-dry-runs.ts";
import type { Targets } from "./targets/targets.ts";
import type { Sender } from "./sender.ts";
import { refuseUnknownQueries } from "./write-queries.ts";

export interface FleetRoutesOptions {
  readonly resources: Resources;
  readonly dryRuns: DryRuns;
  readonly globals: Globals;
  readonly globalDryRuns: GlobalDryRuns;
  readonly targets: Targets;
  readonly targetDryRuns: TargetDryRuns;
  readonly events: EventLog;
  readonly eventLimits?: EventLimits;
  /** Who answers `GET /events` with a topic; without it there are no topics. */
  readonly topicEvents?: TopicEvents;
  readonly bodyBytesMax: number;
  readonly batchBytesMax: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A module for the REST server. */
export function fleetRoutes(options: FleetRoutesOptions) {
  const {
    resources,
    dryRuns,
    globals,
    globalDryRuns,
    targets,
    targetDryRuns,
    bodyBytesMax,
    batchBytesMax,
    eventLimits: limits = usualEventLimits,
  } = options;
  const seconds = options.metrics.histogram({
    name: "keelson_fleet_http_request_seconds",
    help: "How long requests to fleet took, by route and code; a stream until it ends",
    labels: ["route", "code"],
  });
  return {
    name: "fleet",
    prefix: "/api/v1",
    bodyBytesMax,
    routes: (tools: {
      readonly identityOf: (request: FastifyRequest) => Identity;
      readonly stopping: AbortSignal;
      readonly revokedOf: (request: FastifyRequest) => AbortSignal;
    }): FastifyPluginCallback => {
      const senderOf = (request: FastifyRequest): Sender => ({
        ...tools.identityOf(request),
        requestId: request.id,
      });
      return (app, _options, done) => {
        app.addHook("preValidation", refuseUnknownQueries);
        app.addHook("onResponse", (request, reply, next) => {
          const route = request.routeOptions.url ?? "unknown";
          seconds.observe({ route, code: String(reply.statusCode) }, reply.elapsedTime / 1000);
          next();
        });
        addResourceRoutes(app, { resources, dryRuns, senderOf, batchBytesMax });
        addGlobalRoutes(app, { globals, globalDryRuns, senderOf });
        addTargetRoutes(app, { targets, targetDryRuns, senderOf });
        addEventRoutes(app, { ...options, ...tools, limits });
        done();
      };
    },
  };
}
