// What happens around every request, whoever answers it: ids, CORS, identity before; the error shape, the log and
// the metrics after.

import type { IncomingMessage } from "node:http";
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
import type { FastifyReply, FastifyRequest } from "fastify";
import { corsPolicy, isPreflight } from "./cors.ts";
import { restErrorFrom } from "./errors.ts";
import type { Authenticator } from "./identity/authenticator.ts";
import { restMetrics } from "./metrics.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined on public routes, and before the caller is known. */
    keelsonIdentity: Identity | undefined;
    /** When it arrived, by the monotonic clock. */
    keelsonArrivedMs: number;
  }
  interface FastifyContextConfig {
    /** A route that needs no identity: health, the version. */
    isPublic?: boolean;
  }
}

export interface FrameOptions {
  readonly authenticator: Authenticator;
  /** Origins that were allowed explicitly; undefined is what is safe. */
  readonly corsOrigins: readonly string[] | undefined;
  /** Errors of parts that callers should see as something else than an internal one. */
  readonly translate?: (error: unknown) => RestError | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The hooks of the server. */
export interface RequestFrame {
  /** Ids and CORS first, so that every answer has them; then who may come in at all; then who it is. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, done: Done) => void;
  readonly end: (request: FastifyRequest, reply: FastifyReply, done: Done) => void;
  readonly refuse: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** For what the framework refuses before any hook: the same headers, the same checks, then the error. */
  readonly refuseEarly: RequestFrame["refuse"];
}

type Done = (error?: Error) => void;

export function requestFrame(options: FrameOptions, stopping: AbortSignal): RequestFrame {
  const { authenticator, corsOrigins, translate, clock, log } = options;
  const { isAuthenticated } = authenticator;
  const cors = corsPolicy({ isAuthenticated, origins: corsOrigins });
  const metrics = restMetrics(options.metrics);

  /** Gives the reply what every reply has, and says if the request must not even be looked at. */
  const enter = (request: FastifyRequest, reply: FastifyReply): RestError | undefined => {
    const { headers } = request.raw;
    request.keelsonArrivedMs = clock.monotonic();
    reply.headers({
      "x-request-id": request.id,
      "cache-control": "no-store",
      ...cors.replyHeaders(headers.origin),
    });
    if (stopping.aborted) reply.header("connection", "close");
    return cors.check(headers) ?? refusalOfTarget(request.raw);
  };

  return {
    begin: (request, reply, done) => {
      const { raw } = request;
      const { headers, method } = raw;
      const refusal = enter(request, reply);
      if (refusal !== undefined) return done(refusal);
      if (isPreflight(method ?? "", headers)) {
        reply.code(204).headers(cors.preflightHeaders).send();
        return;
      }
      if (request.routeOptions.config.isPublic === true) return done();
      try {
        const found = authenticator.authenticate(raw);
        if (!(found instanceof Promise)) {
          request.keelsonIdentity = found;
          return done();
        }
        void awaitIdentity(found, request, done);
      } catch (error) {
        done(error as Error);
      }
    },

    end: (request, reply, done) => {
      const { method, routeOptions } = request;
      const elapsedMs = clock.monotonic() - request.keelsonArrivedMs;
      const route = request.is404 ? undefined : routeOptions.url;
      const status = reply.statusCode;
      metrics.answered({ method, route, status, seconds: elapsedMs / 1_000 });
      log.debug(
        {
          requestId: request.id,
          method,
          path: request.url.split("?", 1)[0],
          route,
          status,
          elapsedMs,
          user: request.keelsonIdentity?.user,
        },
        "request answered",
      );
      done();
    },

    refuse: (error, request, reply) => {
      const shown = translate?.(error) ?? restErrorFrom(error);
      const { status } = toRestReply(shown);
      if (status >= 500) {
        const { method, routeOptions, id: requestId } = request;
        log.error({ requestId, method, route: routeOptions.url, status, error }, "request failed");
      }
      return sendError(shown, reply);
    },

    refuseEarly: (error, request, reply) =>
      sendError(enter(request, reply) ?? restErrorFrom(error), reply),
  };
}

async function awaitIdentity(
  found: Promise<Identity>,
  request: FastifyRequest,
  done: Done,
): Promise<void> {
  try {
    request.keelsonIdentity = await found;
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
export function sendError(error: unknown, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = toRestReply(error);
  return reply
    .code(status)
    .headers({ ...headers, "content-type": "application/json; charset=utf-8" })
    .serializer((payload: unknown) => writeJson(payload as Json))
    .send(body);
}
