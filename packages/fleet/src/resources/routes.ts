// The routes of resources. Handlers hold no rules: they read the address, call, and answer.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { DryRuns } from "./dry-runs.ts";
import { readListQuery, type Query } from "./list-query.ts";
import { bodyOf, idOf, ifMatchOf, revisionsPage } from "./read-request.ts";
import type { Resources } from "./resources.ts";
import { resourceDocs as docs } from "./route-docs.ts";
import type { Sender } from "../sender.ts";
import { flagOf } from "../write-queries.ts";

export interface ResourceRoutesOptions {
  readonly resources: Resources;
  readonly dryRuns: DryRuns;
  readonly senderOf: (request: FastifyRequest) => Sender;
  readonly batchBytesMax: number;
}

/** Puts them on `app`, below the prefix of the API. */
export function addResourceRoutes(app: FastifyInstance, options: ResourceRoutesOptions): void {
  const { resources, dryRuns, senderOf, batchBytesMax } = options;
  const told = <Doc>(doc: Doc) => ({ config: { doc } });
  const triable = <Doc>(doc: Doc) => ({ config: { doc, isTriable: true } });
  /** Those that try the write instead of making it, if that is asked for. */
  const trying = (request: FastifyRequest): DryRuns | undefined =>
    flagOf(request, "dryRun") ? dryRuns : undefined;

  app.post("/resources", triable(docs.create), async (request, reply) => {
    const [sender, body] = [senderOf(request), bodyOf(request)];
    const trial = trying(request);
    if (trial !== undefined) return trial.create(sender, body, request.signal);
    return reply.code(201).send(await resources.create(sender, body, request.signal));
  });

  app.put("/resources", triable(docs.upsert), async (request, reply) => {
    const [sender, body] = [senderOf(request), bodyOf(request)];
    const trial = trying(request);
    const at = { ifMatch: ifMatchOf(request) };
    if (trial !== undefined) return trial.upsert(sender, at, body, request.signal);
    const written = await resources.upsert(sender, at, body, request.signal);
    return reply.code(written.isNew ? 201 : 200).send(written.body);
  });

  app.get("/resources", told(docs.list), async (request) =>
    resources.list(senderOf(request), readListQuery(request.query as Query), request.signal),
  );

  app.get("/resources/:id", told(docs.get), async (request, reply) => {
    const shown = await resources.get(senderOf(request), idOf(request), request.signal);
    return reply.header("etag", `"${shown.generation}"`).send(shown.body);
  });

  app.put("/resources/:id", triable(docs.replace), async (request) => {
    const at = { id: idOf(request), ifMatch: ifMatchOf(request) };
    return (trying(request) ?? resources).replace(
      senderOf(request),
      at,
      bodyOf(request),
      request.signal,
    );
  });

  app.delete("/resources/:id", triable(docs.delete), async (request, reply) => {
    const at = {
      id: idOf(request),
      ifMatch: ifMatchOf(request),
      isOrphaning: flagOf(request, "orphan"),
    };
    const trial = trying(request);
    if (trial !== undefined) return trial.delete(senderOf(request), at, request.signal);
    const deleted = await resources.delete(senderOf(request), at, request.signal);
    return reply.code(202).send(deleted);
  });

  app.post("/batch", { bodyLimit: batchBytesMax, ...triable(docs.batch) }, async (request) =>
    (trying(request) ?? resources).batch(senderOf(request), bodyOf(request), request.signal),
  );

  app.get("/resources/:id/revisions", told(docs.revisions), async (request) => {
    const page = { id: idOf(request), ...revisionsPage(request.query as Query) };
    return resources.revisions(senderOf(request), page, request.signal);
  });

  app.get("/resources/:id/diff", told(docs.diff), async (request) =>
    resources.diff(senderOf(request), idOf(request), request.signal),
  );

  app.post("/resources/:id/sync", triable(docs.sync), async (request, reply) => {
    const [sender, id] = [senderOf(request), idOf(request)];
    const trial = trying(request);
    if (trial !== undefined) return trial.sync(sender, id, request.signal);
    return reply.code(202).send(await resources.sync(sender, id, request.signal));
  });

  for (const [verb, paused] of [
    ["pause", true],
    ["resume", false],
  ] as const) {
    app.post(`/resources/:id/${verb}`, triable(docs[verb]), async (request) => {
      const [sender, id] = [senderOf(request), idOf(request)];
      return (trying(request) ?? resources).setPaused(sender, id, paused, request.signal);
    });
  }
}
