// How a part puts its routes on the REST server. Parts cannot import this package: they export something of
// this shape.

import type { Identity } from "@keelson/base";
import type { FastifyPluginCallback, FastifyRequest } from "fastify";

/** What routes may ask of the server that carries them. */
export interface RouteTools {
  /** Who sent the request. Every request of a module's routes has been authenticated before they run. */
  readonly identityOf: (request: FastifyRequest) => Identity;
  /** Aborts when the server begins to stop: a stream that does not heed it keeps the process from ending. */
  readonly stopping: AbortSignal;
  /** For a stream: aborts once its caller's credential counts no more, or allows something else than it did. */
  readonly revokedOf: (request: FastifyRequest) => AbortSignal;
}

/** Hears whose request was refused, and why. It must not throw, and nobody waits for it. */
export type RefusalListener = (
  request: FastifyRequest,
  identity: Identity | undefined,
  error: unknown,
) => void;

/**
 * The routes of one part.
 *
 * Bodies arrive as the lossless JSON of `readJson`, without NUL in any string; whatever is returned is written
 * with `writeJson`. A handler returns or throws, a `RestError` for what the caller can act on; it never builds an
 * error reply. Schemas in a route are checked without coercing bodies; parameters and queries, which are text,
 * become numbers and booleans where their schema says so.
 */
export interface RouteModule {
  /** For logs: `fleet`. */
  readonly name: string;
  /** What every path begins with: `/api/v1`. */
  readonly prefix: string;
  /** The largest body of its routes; a route may have its own `bodyLimit`. */
  readonly bodyBytesMax: number;
  /** Told of every request to its routes that is answered with an error, also before anybody knew the caller. */
  readonly onRefused?: RefusalListener;
  readonly routes: (tools: RouteTools) => FastifyPluginCallback;
}
