// A REST server for tests: the real one, with routes that show what arrived.

import { Readable } from "node:stream";
import {
  noMetrics,
  RestError,
  silentLog,
  systemClock,
  systemRandom,
  type Json,
} from "@keelson/base";
import { restErrorStatus, type RestErrorCode } from "@keelson/base";
import { Type } from "typebox";
import { believingAuthenticator } from "../rest/identity/none.ts";
import type { RouteModule } from "../rest/route-module.ts";
import { buildRest, type RestOptions, type RestServer } from "../rest/server.ts";

/** The largest body of the fixture's routes, and of its `/batch`. */
export const bodyBytesMax = 2_048;
export const batchBodyBytesMax = 16_384;

/** Routes below `/api/v1`: who one is, what one sent, every error there is, a stream that never ends by itself. */
export const showingRoutes: RouteModule = {
  name: "showing",
  prefix: "/api/v1",
  bodyBytesMax,
  routes:
    ({ identityOf, stopping, revokedOf }) =>
    (app, _options, done) => {
      app.get("/whoami", (request) => {
        const { clusters, ...identity } = identityOf(request);
        return { ...identity, clusters: clusters === "all" ? clusters : [...clusters] };
      });
      app.post("/echo", (request) => ({ sent: request.body as Json }));
      app.put("/echo/:id", (request) => ({ id: (request.params as { id: string }).id }));
      app.post("/batch", { bodyLimit: batchBodyBytesMax }, () => ({ ok: true }));
      app.post("/typed", { schema: { body: Typed } }, (request) => ({
        sent: request.body as Json,
      }));
      app.get("/page", { schema: { querystring: Page } }, (request) => request.query as Json);
      app.get("/errors/:code", (request) => {
        const { code } = request.params as { code: string };
        if (Object.hasOwn(restErrorStatus, code)) {
          throw new RestError(code as RestErrorCode, `this is ${code}`, {
            cause: new Error(secretText),
          });
        }
        throw new TypeError(secretText);
      });
      app.get("/stream", (request, reply) => {
        reply.header("connection", "close").type("text/plain");
        const ended = AbortSignal.any([stopping, revokedOf(request)]);
        return reply.send(Readable.from(untilStopped(ended)));
      });
      done();
    },
};

async function* untilStopped(stopping: AbortSignal): AsyncGenerator<string> {
  yield "begun\n";
  if (!stopping.aborted) {
    await new Promise((resolve) => stopping.addEventListener("abort", resolve, { once: true }));
  }
  yield "stopped\n";
}

/** A text that no answer may contain. */
export const secretText = "password hunter2 of the driver";

const Typed = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    count: Type.Integer({ minimum: 1 }),
    kind: Type.Optional(Type.Union([Type.Literal("one"), Type.Literal("two")])),
    items: Type.Optional(
      Type.Array(Type.Object({ id: Type.String() }, { additionalProperties: false })),
    ),
    spec: Type.Optional(Type.Unsafe<Json>({})),
  },
  { additionalProperties: false },
);
const Page = Type.Object(
  { limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }) },
  { additionalProperties: false },
);

/** Builds the server; mode `none` unless told. */
export function restFixture(options: Partial<RestOptions> = {}): Promise<RestServer> {
  return buildRest({
    authenticator: believingAuthenticator(),
    corsOrigins: undefined,
    modules: [showingRoutes],
    limits: { readMs: 30_000, writeMs: 30_000, idleMs: 120_000, drainMs: 10_000 },
    clock: systemClock,
    random: systemRandom,
    logsRequests: true,
    log: silentLog,
    metrics: noMetrics,
    ...options,
  });
}
