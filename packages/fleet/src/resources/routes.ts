// The routes of resources. Handlers hold no rules: they read the address, call, and answer.

import { RestError, validationFailed, type Identity, type Json } from "@keelson/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { limitOf, readListQuery, type Query } from "./list-query.ts";
import { integerMax } from "./resource.ts";
import type { Resources } from "./resources.ts";
import { flagOf } from "../write-queries.ts";

export interface ResourceRoutesOptions {
  readonly resources: Resources;
  readonly identityOf: (request: FastifyRequest) => Identity;
  readonly batchBytesMax: number;
}

/** Puts them on `app`, below the prefix of the API. */
export function addResourceRoutes(app: FastifyInstance, options: ResourceRoutesOptions): void {
  const { resources, identityOf, batchBytesMax } = options;

  app.post("/resources", async (request, reply) => {
    const created = await resources.create(identityOf(request), bodyOf(request), request.signal);
    return reply.code(201).send(created);
  });

  app.put("/resources", async (request, reply) => {
    const { body, isNew } = await resources.upsert(
      identityOf(request),
      bodyOf(request),
      request.signal,
    );
    return reply.code(isNew ? 201 : 200).send(body);
  });

  app.get("/resources", async (request) =>
    resources.list(identityOf(request), readListQuery(request.query as Query), request.signal),
  );

  app.get("/resources/:id", async (request, reply) => {
    const shown = await resources.get(identityOf(request), idOf(request), request.signal);
    return reply.header("etag", `"${shown.generation}"`).send(shown.body);
  });

  app.put("/resources/:id", async (request) => {
    const at = { id: idOf(request), ifMatch: ifMatchOf(request) };
    return resources.replace(identityOf(request), at, bodyOf(request), request.signal);
  });

  app.delete("/resources/:id", async (request, reply) => {
    const at = {
      id: idOf(request),
      ifMatch: ifMatchOf(request),
      isOrphaning: flagOf(request, "orphan"),
    };
    const deleted = await resources.delete(identityOf(request), at, request.signal);
    return reply.code(202).send(deleted);
  });

  app.post("/batch", { bodyLimit: batchBytesMax }, async (request) =>
    resources.batch(identityOf(request), bodyOf(request), request.signal),
  );

  app.get("/resources/:id/revisions", async (request) => {
    const page = { id: idOf(request), ...revisionsPage(request.query as Query) };
    return resources.revisions(identityOf(request), page, request.signal);
  });

  app.post("/resources/:id/sync", async (request, reply) => {
    const asked = await resources.sync(identityOf(request), idOf(request), request.signal);
    return reply.code(202).send(asked);
  });

  for (const [verb, paused] of [
    ["pause", true],
    ["resume", false],
  ] as const) {
    app.post(`/resources/:id/${verb}`, async (request) =>
      resources.setPaused(identityOf(request), idOf(request), paused, request.signal),
    );
  }
}

function bodyOf(request: FastifyRequest): Json | undefined {
  return request.body as Json | undefined;
}

/** Not a number: 400. A number that no row can have: 404. */
function idOf(request: FastifyRequest): number {
  const { id } = request.params as { readonly id: string };
  if (!/^[0-9]+$/.test(id)) throw validationFailed({ field: "id", message: "must be a number" });
  const number = Number(id);
  if (number > integerMax) throw new RestError("RESOURCE_NOT_FOUND", "no such resource");
  return number;
}

/** The generation of `If-Match: "3"`; `*` is any. */
function ifMatchOf(request: FastifyRequest): number | undefined {
  const header = request.headers["if-match"];
  if (header === undefined || header.trim() === "*") return undefined;
  const found = /^\s*(?:W\/)?"([0-9]{1,10})"\s*$/.exec(header);
  // A tag of somebody else's making matches nothing.
  return found === null ? 0 : Number(found[1]);
}

function revisionsPage(query: Query): { readonly before: number; readonly limit: number } {
  const { before, limit } = query;
  const wrong = (field: string, message: string): never => {
    throw validationFailed({ field, message });
  };
  if (before !== undefined && !(typeof before === "string" && /^\d{1,10}$/.test(before))) {
    return wrong("before", "must be a generation");
  }
  return {
    before: before === undefined ? integerMax : Math.min(Number(before), integerMax),
    limit: limitOf(typeof limit === "string" ? limit : null, wrong),
  };
}
