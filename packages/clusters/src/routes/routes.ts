// The routes of cluster lifecycle, in the shape that the REST server takes.

import { RestError, type Clock, type Identity } from "@keelson/base";
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import { HiddenFromStranger } from "../access/access.ts";
import type { Denials } from "../access/denials.ts";
import type { LifecycleEvents } from "../events/lifecycle-events.ts";
import { addEventRoutes, topicEvents, type EventRoutesOptions } from "../events/routes.ts";
import { kinds, type KindName } from "../kinds.ts";
import type { ClusterLifecycle } from "../cluster-lifecycle.ts";
import { isUuid, readUuid } from "../resources/uuid.ts";
import { addControllerRoutes } from "./controller-routes.ts";
import { addResourceRoutes } from "./resource-routes.ts";

/** The largest body of these routes. */
const bodyBytesMax = 1024 * 1024;

export interface ClustersRoutesOptions {
  /** Whose log is streamed. */
  readonly events: LifecycleEvents;
  readonly clock: Clock;
  readonly heartbeatMs?: number;
}

interface Tools {
  readonly identityOf: (request: FastifyRequest) => Identity;
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the credential of a request counts no more. */
  readonly revokedOf: (request: FastifyRequest) => AbortSignal;
}

/**
 * A module for the REST server. `GET /events` belongs to the whole API: whoever answers it hands requests with a topic,
 * and what they are refused with, to `topicEvents`, once the module is on its server.
 */
export function clustersRoutes(service: ClusterLifecycle, options: ClustersRoutesOptions) {
  let answerTopic: ReturnType<typeof topicEvents> | undefined;
  const onRefused = (
    request: FastifyRequest,
    identity: Identity | undefined,
    error: unknown,
  ): void => recordDenial(service.denials, request, identity, error);
  return {
    topicEvents: {
      answer: async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
        if (answerTopic === undefined) throw new TypeError("the module is on no server");
        return answerTopic(request, reply);
      },
      onRefused,
    },
    name: "clusters",
    prefix: "/api/v1",
    bodyBytesMax,
    onRefused,
    routes: (tools: Tools): FastifyPluginCallback => {
      const callerOf = (request: FastifyRequest) =>
        service.access.callerOf(tools.identityOf(request), request.id);
      const parts = { ...service, callerOf };
      const streams = eventRoutesOptions(service, options, tools);
      answerTopic = topicEvents(streams);
      return (app, _options, done) => {
        addEventRoutes(app, streams);
        addResourceRoutes(app, parts);
        addControllerRoutes(app, parts);
        done();
      };
    },
  };
}

function eventRoutesOptions(
  service: ClusterLifecycle,
  options: ClustersRoutesOptions,
  tools: Tools,
): EventRoutesOptions {
  const { access, reader, database, log } = service;
  return {
    ...options,
    ...tools,
    database,
    log,
    isController: (identity) => access.callerOf(identity).isController,
    requireVisible: async ({ kind, id, request }) => {
      const caller = access.callerOf(tools.identityOf(request));
      const { include_deleted: includes } = request.query as { readonly include_deleted?: unknown };
      const asked = { kind: kinds[kind], id: readUuid(id), includeDeleted: includes === "true" };
      await reader.find(caller, asked, request.signal);
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
