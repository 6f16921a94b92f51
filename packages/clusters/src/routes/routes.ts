// The routes of cluster lifecycle, in the shape that the REST server takes.

import { RestError, type Identity } from "@keelson/base";
import type { FastifyPluginCallback, FastifyRequest } from "fastify";
import { HiddenFromStranger } from "../access/access.ts";
import type { Denials } from "../access/denials.ts";
import type { KindName } from "../kinds.ts";
import type { ClusterLifecycle } from "../cluster-lifecycle.ts";
import { isUuid } from "../resources/uuid.ts";
import { addControllerRoutes } from "./controller-routes.ts";
import { addResourceRoutes } from "./resource-routes.ts";

/** The largest body of these routes. */
const bodyBytesMax = 1024 * 1024;

/** A module for the REST server. */
export function clustersRoutes(service: ClusterLifecycle) {
  return {
    name: "clusters",
    prefix: "/api/v1",
    bodyBytesMax,
    onRefused: (request: FastifyRequest, identity: Identity | undefined, error: unknown): void =>
      recordDenial(service.denials, request, identity, error),
    routes: (tools: {
      readonly identityOf: (request: FastifyRequest) => Identity;
    }): FastifyPluginCallback => {
      const callerOf = (request: FastifyRequest) =>
        service.access.callerOf(tools.identityOf(request));
      const parts = { ...service, callerOf };
      return (app, _options, done) => {
        addResourceRoutes(app, parts);
        addControllerRoutes(app, parts);
        done();
      };
    },
  };
}

/** Denials are 401, 403, and a 404 for what is there and is somebody else's. Nothing of what was sent is kept. */
function recordDenial(
  denials: Denials,
  request: FastifyRequest,
  identity: Identity | undefined,
  error: unknown,
): void {
  if (!(error instanceof RestError)) return;
  const { status, code } = error;
  if (status !== 401 && status !== 403 && !(error instanceof HiddenFromStranger)) return;
  const { url: route = "" } = request.routeOptions;
  const { id } = (request.params ?? {}) as { readonly id?: string };
  const kind: KindName | null = route.includes("/nodepools")
    ? "nodepool"
    : route.includes("/clusters")
      ? "cluster"
      : null;
  denials.add({
    actor: identity?.user ?? "anonymous",
    kind,
    resourceId: id !== undefined && isUuid(id) ? id : null,
    data: { code, method: request.method, route, request_id: request.id },
  });
}
