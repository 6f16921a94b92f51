// Fleet's routes, in the shape that the REST server takes.

import type { Identity } from "@keelson/base";
import type { FastifyPluginCallback, FastifyRequest } from "fastify";
import type { Resources } from "./resources/resources.ts";
import { addResourceRoutes } from "./resources/routes.ts";
import { addTargetRoutes } from "./targets/routes.ts";
import type { Targets } from "./targets/targets.ts";
import { refuseUnknownQueries } from "./write-queries.ts";

export interface FleetRoutesOptions {
  readonly resources: Resources;
  readonly targets: Targets;
  readonly bodyBytesMax: number;
  readonly batchBytesMax: number;
}

/** A module for the REST server. */
export function fleetRoutes({
  resources,
  targets,
  bodyBytesMax,
  batchBytesMax,
}: FleetRoutesOptions) {
  return {
    name: "fleet",
    prefix: "/api/v1",
    bodyBytesMax,
    routes: (tools: {
      readonly identityOf: (request: FastifyRequest) => Identity;
    }): FastifyPluginCallback => {
      const { identityOf } = tools;
      return (app, _options, done) => {
        app.addHook("preValidation", refuseUnknownQueries);
        addResourceRoutes(app, { resources, identityOf, batchBytesMax });
        addTargetRoutes(app, { targets, identityOf });
        done();
      };
    },
  };
}
