// The routes of global resources.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { readListQuery, type Query } from "../resources/list-query.ts";
import { bodyOf, idOf, ifMatchOf, revisionsPage } from "../resources/read-request.ts";
import type { Sender } from "../sender.ts";
import { flagOf } from "../write-queries.ts";
import type { GlobalDryRuns } from "./global-dry-runs.ts";
import type { Globals } from "./globals.ts";
import { globalDocs as docs } from "./schema.ts";

export interface GlobalRoutesOptions {
  readonly globals: Globals;
  readonly globalDryRuns: GlobalDryRuns;
  readonly senderOf: (request: FastifyRequest) => Sender;
}

const filters = ["namespace", "kind", "name", "limit", "cursor"];

/** Puts them on `app`, below the prefix of the API. */
export function addGlobalRoutes(
  app: FastifyInstance,
  { globals, globalDryRuns, senderOf }: GlobalRoutesOptions,
): void {
  const told = <Doc>(doc: Doc) => ({ config: { doc } });
  const triable = <Doc>(doc: Doc) => ({ config: { doc, isTriable: true } });
  /** Those that try the write instead of making it, if that is asked for. */
  const trying = (request: FastifyRequest): GlobalDryRuns | undefined =>
    flagOf(request, "dryRun") ? globalDryRuns : undefined;

  app.post("/global-resources", triable(docs.create), async (request, reply) => {
    const [sender, body] = [senderOf(request), bodyOf(request)];
    const trial = trying(request);
    if (trial !== undefined) return trial.create(sender, body, request.signal);
    return reply.code(201).send(await globals.create(sender, body, request.signal));
  });

  app.get("/global-resources", told(docs.list), async (request) => {
    const asked = readListQuery(request.query as Query, filters);
    return globals.list(senderOf(request), asked, request.signal);
  });

  app.get("/global-resources/:id", told(docs.get), async (request, reply) => {
    const shown = await globals.get(senderOf(request), idOf(request), request.signal);
    return reply.header("etag", `"${shown.generation}"`).send(shown.body);
  });

  app.put("/global-resources/:id", triable(docs.replace), async (request) => {
    const at = { id: idOf(request), ifMatch: ifMatchOf(request) };
    const body = bodyOf(request);
    return (trying(request) ?? globals).replace(senderOf(request), at, body, request.signal);
  });

  app.delete("/global-resources/:id", triable(docs.delete), async (request, reply) => {
    const at = {
      id: idOf(request),
      ifMatch: ifMatchOf(request),
      isOrphaning: flagOf(request, "orphan"),
    };
    const trial = trying(request);
    if (trial !== undefined) return trial.delete(senderOf(request), at, request.signal);
    const deleted = await globals.delete(senderOf(request), at, request.signal);
    return reply.code(202).send(deleted);
  });

  app.get("/global-resources/:id/revisions", told(docs.revisions), async (request) => {
    const page = { id: idOf(request), ...revisionsPage(request.query as Query) };
    return globals.revisions(senderOf(request), page, request.signal);
  });
}
