// The one REST server: identity, CORS, request ids, limits and the error shape for whatever parts put on it.

import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  listenerUrl,
  RestError,
  writeJson,
  type Identity,
  type Json,
  type Random,
} from "@keelson/base";
import { fastify, type FastifyInstance, type FastifyRequest } from "fastify";
import { refuseBrokenRequest } from "./broken-request.ts";
import { trackConnections } from "./connections.ts";
import { requestFrame, type FrameOptions, type RequestFrame } from "./frame.ts";
import { Standing } from "./identity/standing.ts";
import { readJsonBodies } from "./json-body.ts";
import type { ApiDocument } from "./openapi.ts";
import { requestIds } from "./request-id.ts";
import { addRequestSignals, type RequestTrace } from "./request-signal.ts";
import type { RouteModule, RouteTools } from "./route-module.ts";
import type { TlsFiles } from "./tls-files.ts";
import { routeValidators } from "./validation.ts";
import { methodsByPath } from "./wrong-method.ts";

export interface RestOptions extends FrameOptions {
  readonly modules: readonly RouteModule[];
  readonly tls?: TlsFiles;
  readonly limits: RestLimits;
  readonly random: Random;
  /** Is told of the signal of each request that has one. */
  readonly trace?: RequestTrace;
  /** Where the routes describe themselves, if they shall. */
  readonly document?: ApiDocument;
}

export interface RestLimits {
  /** The longest time for a request to arrive. */
  readonly readMs: number;
  /** The longest silence of a connection while it is answered. */
  readonly writeMs: number;
  /** How long an idle connection is kept. */
  readonly idleMs: number;
  /** How long a stop waits for requests in flight before it cuts them off. */
  readonly drainMs: number;
}

/** The server before and while it listens. Disposing lets requests in flight end, streams by their `stopping`. */
export interface RestServer extends AsyncDisposable {
  /** For requests without a socket: `inject`. */
  readonly app: FastifyInstance;
  /** Listens and gives the URL by which it is found on this machine. Throws what the socket throws: `EADDRINUSE`. */
  listen(at: { readonly address: string; readonly port: number }): Promise<string>;
  /** Follows credentials and certificates that change, until `signal` aborts. */
  keepFresh(signal: AbortSignal): Promise<void>;
}

/** Builds the server with its routes. It listens only when it is told. */
export async function buildRest(options: RestOptions): Promise<RestServer> {
  const { authenticator, modules, tls, limits, clock, log, document } = options;
  const stopping = new AbortController();
  const frame = requestFrame(options, stopping.signal);
  const app = newApp(options, frame);
  const connections = trackConnections(app.server);
  const allowedMethods = methodsByPath(app);

  app.decorateRequest("keelsonIdentity", undefined);
  app.decorateRequest("keelsonArrivedMs", 0);
  app.decorateRequest("keelsonMetrics", undefined);
  addRequestSignals(app, options.trace);
  app.setValidatorCompiler(routeValidators());
  app.setReplySerializer((payload) => writeJson(payload as Json));
  readJsonBodies(app);
  app.addHook("onRoute", frame.addTo);
  app.setErrorHandler((error, request, reply) => frame.refuse(error, request, reply));
  app.setNotFoundHandler(async (request, reply) => {
    // Strangers do not even learn which routes there are.
    if ((await frame.admitToNothing(request, reply)) === "answered") return reply;
    const methods = allowedMethods(request.url);
    if (methods.length === 0) throw new RestError("RESOURCE_NOT_FOUND", "no such route");
    throw new RestError("METHOD_NOT_ALLOWED", `${request.method} is not a method of this route`, {
      headers: { allow: methods.toSorted().join(", ") },
    });
  });

  const standing = new Standing({ authenticator, clock, log });
  const tools: RouteTools = {
    stopping: stopping.signal,
    identityOf,
    revokedOf: (request) => standing.of(request),
  };
  for (const { name, prefix, bodyBytesMax, routes, onRefused } of modules) {
    await app.register(
      (part, _options, done) => {
        part.addHook("onRoute", (route) => {
          route.bodyLimit ??= bodyBytesMax;
          if (onRefused !== undefined) route.config = { ...route.config, onRefused };
          document?.add(name, route);
        });
        part.register(routes(tools));
        done();
      },
      { prefix },
    );
  }
  document?.addTo(app);
  await app.ready();

  return {
    app,
    listen: async ({ address, port }) => {
      await app.listen({ host: address, port });
      const { port: bound } = app.server.address() as AddressInfo;
      return listenerUrl(tls === undefined ? "http" : "https", { address, port: bound });
    },
    keepFresh: async (signal) => {
      await Promise.all([
        authenticator.keepFresh?.(signal),
        standing.run(signal),
        tls?.follow((secrets) => reloadSecrets(app, secrets), { clock, log }, signal),
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new DOMException("the server is stopping", "AbortError"));
      connections.closeUnused();
      using _deadline = clock.after(limits.drainMs, () => connections.closeAll());
      await app.close();
    },
  };
}

/** The caller of a request. Throws where nobody asked for one: on a public route. */
function identityOf(request: FastifyRequest): Identity {
  const { keelsonIdentity: identity } = request;
  if (identity === undefined) throw new Error(`${request.url} was not authenticated`);
  return identity;
}

function newApp(options: RestOptions, frame: RequestFrame): FastifyInstance {
  const { tls, limits, random } = options;
  const { readMs, writeMs, idleMs } = limits;
  const idOf = requestIds(random);
  const shared = {
    requestTimeout: readMs,
    connectionTimeout: writeMs,
    keepAliveTimeout: idleMs,
    forceCloseConnections: "idle" as const,
    // Whoever comes on an open connection while we stop is still served, and told to close it.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 1_000 },
    requestIdHeader: false as const,
    genReqId: ({ headers }: IncomingMessage) => idOf(headers),
    clientErrorHandler: refuseBrokenRequest,
    frameworkErrors: frame.refuseEarly,
  };
  // A request without a Host is answered by us, in our shape.
  const http = { requireHostHeader: false };
  return tls === undefined
    ? fastify({ ...shared, http })
    : fastify({ ...shared, https: { ...http, handshakeTimeout: readMs, ...tls.serverOptions() } });
}

function reloadSecrets(app: FastifyInstance, secrets: object): void {
  const { server } = app as unknown as { server: { setSecureContext(options: object): void } };
  server.setSecureContext(secrets);
}
