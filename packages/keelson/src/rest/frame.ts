// What happens around every request, whoever answers it: ids, CORS, identity before; the error shape, the log and
// the metrics after.

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  RestError,
  toRestReply,
  writeJson,
  type Clock,
  type Identity,
  type Json,
  type Log,
  type Metrics,
} from "@keelson/base";
import type { FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from "fastify";
import { corsPolicy, isPreflight } from "./cors.ts";
import { restErrorFrom } from "./errors.ts";
import type { Authenticator } from "./identity/authenticator.ts";
import { restMetrics, type RouteMetrics } from "./metrics.ts";
import type { RouteDoc } from "./route-doc.ts";
import type { RefusalListener } from "./route-module.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined on public routes, and before the caller is known. */
    keelsonIdentity: Identity | undefined;
    /** When it arrived, by the monotonic clock. */
    keelsonArrivedMs: number;
    /** Undefined where there is no route. */
    keelsonMetrics: RouteMetrics | undefined;
  }
  interface FastifyContextConfig {
    /** A route that needs no identity: health, the version. */
    isPublic?: boolean;
    /** Told of what is refused here. */
    onRefused?: RefusalListener;
    /** What it tells of itself. */
    doc?: RouteDoc;
  }
}

export interface FrameOptions {
  readonly authenticator: Authenticator;
  /** Origins that were allowed explicitly; undefined is what is safe. */
  readonly corsOrigins: readonly string[] | undefined;
  /** Errors of parts that callers should see as something else than an internal one. */
  readonly translate?: (error: unknown) => RestError | undefined;
  /** Whether every request is a line of the log, at `debug`. */
  readonly logsRequests: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The hooks of the server. */
export interface RequestFrame {
  /**
   * Puts our part before whatever the route does: ids and CORS first, so that every answer has them; then whether
   * the caller may come in at all; then, unless the route is public, who it is.
   */
  readonly addTo: (route: RouteOptions) => void;
  /** The same where there is no route. A preflight is answered; else throws or the caller may be told. */
  readonly admitToNothing: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<"answered" | "admitted">;
  readonly refuse: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** For what the framework refuses before any hook: the same headers, the same checks, then the error. */
  readonly refuseEarly: RequestFrame["refuse"];
}

/** A response that knows what it answers. */
const requestOf = Symbol("request");
type FramedResponse = ServerResponse & { [requestOf]?: FastifyRequest };

type Done = (error?: Error) => void;

export function requestFrame(options: FrameOptions, stopping: AbortSignal): RequestFrame {
  const { authenticator, corsOrigins, translate, logsRequests, clock, log } = options;
  const { isAuthenticated } = authenticator;
  const cors = corsPolicy({ isAuthenticated, origins: corsOrigins });
  const metrics = restMetrics(options.metrics);
  const unknown = metrics.ofRoute("unknown");

  /** A listener shared by all: the framework's own hook for this costs three times as much. */
  function countAnswer(this: FramedResponse): void {
    const request = this[requestOf];
    if (request === undefined) return;
    const { method = "" } = request.raw;
    const { statusCode: status } = this;
    const elapsedMs = clock.monotonic() - request.keelsonArrivedMs;
    (request.keelsonMetrics ?? unknown).answered(method, status, elapsedMs / 1_000);
    if (!logsRequests) return;
    const { id: request_id, keelsonIdentity: identity } = request;
    const [path] = request.url.split("?", 1);
    const route = request.is404 ? undefined : request.routeOptions.url;
    log.debug(
      { request_id, method, path, route, status, elapsedMs, user: identity?.user },
      "request answered",
    );
  }

  /** Gives the reply what every reply has, and says if the request must not even be looked at. */
  const enter = (request: FastifyRequest, reply: FastifyReply): RestError | undefined => {
    const { headers } = request.raw;
    request.keelsonArrivedMs = clock.monotonic();
    const response: FramedResponse = reply.raw;
    response[requestOf] = request;
    request.keelsonResponse = response;
    response.on("finish", countAnswer);
    reply.header("x-request-id", request.id).header("cache-control", "no-store");
    const { origin } = headers;
    if (origin !== undefined) reply.headers(cors.replyHeaders(origin));
    if (stopping.aborted) reply.header("connection", "close");
    return cors.check(headers) ?? refusalOfTarget(request.raw);
  };

  const identify = (request: FastifyRequest): void | Promise<void> => {
    const found = authenticator.authenticate(request.raw);
    if (found instanceof Promise) return awaitIdentity(found, request);
    request.keelsonIdentity = found;
  };

  return {
    admitToNothing: async (request, reply) => {
      const refusal = enter(request, reply);
      if (refusal !== undefined) throw refusal;
      const { method = "", headers } = request.raw;
      if (isPreflight(method, headers)) {
        reply.code(204).headers(cors.preflightHeaders).send();
        return "answered";
      }
      await identify(request);
      return "admitted";
    },

    addTo: (route) => {
      const counted = metrics.ofRoute(route.url);
      const isPublic = route.config?.isPublic === true;
      // One hook with callbacks for all of it: it runs for every request, and each further one has its price.
      const admit = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
        request.keelsonMetrics = counted;
        const refusal = enter(request, reply);
        if (refusal !== undefined) return done(refusal);
        if (isPublic) return done();
        try {
          const waiting = identify(request);
          if (waiting === undefined) done();
          else void finish(waiting, done);
        } catch (error) {
          done(error as Error);
        }
      };
      route.onRequest = [admit, ...[route.onRequest ?? []].flat()] as onRequestHookHandler[];
    },

    refuse: (error, request, reply) => {
      const shown = translate?.(error) ?? restErrorFrom(error);
      const { status } = toRestReply(shown);
      if (status >= 500) {
        const { method, routeOptions, id: request_id, keelsonIdentity: identity } = request;
        const [path] = request.url.split("?", 1);
        const asked = { request_id, user: identity?.user, method, path, route: routeOptions.url };
        log.error({ ...asked, status, error }, "request failed");
      }
      request.routeOptions.config.onRefused?.(request, request.keelsonIdentity, shown);
      return sendError(shown, reply);
    },

    refuseEarly: (error, request, reply) =>
      sendError(enter(request, reply) ?? restErrorFrom(error), reply),
  };
}

async function awaitIdentity(found: Promise<Identity>, request: FastifyRequest): Promise<void> {
  request.keelsonIdentity = await found;
}

async function finish(waiting: Promise<void>, done: Done): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    done(error as Error);
    return;
  }
  done();
}

/** A target or a missing `Host` that no route could make sense of. */
function refusalOfTarget({ headers, url = "" }: IncomingMessage): RestError | undefined {
  if (headers.host === undefined) return new RestError("VALIDATION_FAILED", "Host is missing");
  if (url.includes("%00"))
    return new RestError("VALIDATION_FAILED", "the path must not contain NUL");
  return undefined;
}

/** Answers with the one error shape. */
function sendError(error: unknown, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = toRestReply(error);
  return reply
    .code(status)
    .headers({ ...headers, "content-type": "application/json; charset=utf-8" })
    .serializer((payload: unknown) => writeJson(payload as Json))
    .send(body);
}
