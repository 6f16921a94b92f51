// The routes of global resources.

import type { Identity } from "@keelson/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readListQuery, type Query } from "../resources/list-query.ts";
import { bodyOf, idOf, ifMatchOf, revisionsPage } from "../resources/read-request.ts";
import { flagOf } from "../write-queries.ts";
import type { Globals } from "./globals.ts";

export interface GlobalRoutesOptions {
  readonly globals: Globals;
  readonly identityOf: (request: FastifyRequest) => Identity;
}

const filters = ["namespace", "kind", "name", "limit", "cursor"];

/** Puts them on `app`, below the prefix of the API. */
export function addGlobalRoutes(
  app: FastifyInstance,
  { globals, identityOf }: GlobalRoutesOptions,
): void {
  app.post("/global-resources", async (request, reply) => {
    const created = await globals.create(identityOf(request), bodyOf(request), request.signal);
    return reply.code(201).send(created);
  });

  app.get("/global-resources", async (request) => {
    const asked = readListQuery(request.query as Query, filters);
    return globals.list(identityOf(request), asked, request.signal);
  });

  app.get("/global-resources/:id", async (request, reply) => {
    const shown = await globals.get(identityOf(request), idOf(request), request.signal);
    return reply.header("etag", `"${shown.generation}"`).send(shown.body);
  });

  app.put("/global-resources/:id", async (request) => {
    const at = { id: idOf(request), ifMatch: ifMatchOf(request) };
    return globals.replace(identityOf(request), at, bodyOf(request), request.signal);
  });

  app.delete("/global-resources/:id", async (request, reply) => {
    const at = {
      id: idOf(request),
      ifMatch: ifMatchOf(request),
      isOrphaning: flagOf(request, "orphan"),
    };
    const deleted = await globals.delete(identityOf(request), at, request.signal);
    return reply.code(202).send(deleted);
  });

  app.get("/global-resources/:id/revisions", async (request) => {
    const page = { id: idOf(request), ...revisionsPage(request.query as Query) };
    return globals.revisions(identityOf(request), page, request.signal);
  });
}
