// The routes of targets.

import { RestError, validationFailed, type Identity, type Json } from "@keelson/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { limitOf, type Query } from "../resources/list-query.ts";
import { clusterIdProblems } from "../resources/resource-body.ts";
import { targetDocs as docs } from "./schema.ts";
import type { TargetPage, Targets } from "./targets.ts";

export interface TargetRoutesOptions {
  readonly targets: Targets;
  readonly identityOf: (request: FastifyRequest) => Identity;
}

/** Puts them on `app`, below the prefix of the API. */
export function addTargetRoutes(
  app: FastifyInstance,
  { targets, identityOf }: TargetRoutesOptions,
): void {
  const told = <Doc>(doc: Doc) => ({ config: { doc } });

  app.post("/targets", told(docs.create), async (request, reply) => {
    const body = request.body as Json | undefined;
    return reply.code(201).send(await targets.create(identityOf(request), body, request.signal));
  });

  app.get("/targets", told(docs.list), async (request) =>
    targets.list(identityOf(request), pageOf(request.query as Query), request.signal),
  );

  app.get("/targets/:cluster_id", told(docs.get), async (request) =>
    targets.get(identityOf(request), clusterIdOf(request), request.signal),
  );

  app.put("/targets/:cluster_id", told(docs.replace), async (request) => {
    const body = request.body as Json | undefined;
    return targets.replace(identityOf(request), clusterIdOf(request), body, request.signal);
  });

  app.delete("/targets/:cluster_id", told(docs.delete), async (request, reply) => {
    const clusterId = clusterIdOf(request);
    const isOrphaning = orphanOf(request.query as Query);
    const end = await targets.delete(
      identityOf(request),
      { clusterId, isOrphaning },
      request.signal,
    );
    if (end === "gone") return reply.code(204).send();
    const message = "Target marked for deletion: copies of global resources are deleted first";
    return reply.code(202).send({ cluster_id: clusterId, status: "deleting", message });
  });
}

/** What is no id of a cluster is no target either. */
function clusterIdOf(request: FastifyRequest): string {
  const { cluster_id: clusterId } = request.params as { readonly cluster_id: string };
  if (clusterIdProblems(clusterId).length === 0) return clusterId;
  throw new RestError("RESOURCE_NOT_FOUND", "no such target");
}

function orphanOf({ orphan }: Query): boolean {
  if (orphan === undefined || orphan === "false") return false;
  if (orphan === "true") return true;
  throw validationFailed({ field: "orphan", message: "must be true or false" });
}

function pageOf(query: Query): TargetPage {
  const wrong = (field: string, message: string): never => {
    throw validationFailed({ field, message });
  };
  for (const field of Object.keys(query)) {
    if (field !== "limit" && field !== "cursor") wrong(field, "is not a known parameter");
  }
  const { limit, cursor } = query;
  if (limit !== undefined && typeof limit !== "string") wrong("limit", "must be given once");
  return {
    after:
      cursor === undefined
        ? ""
        : (afterOf(cursor) ?? wrong("cursor", "must be one that a list has answered")),
    limit: limitOf(typeof limit === "string" ? limit : null, wrong),
  };
}

function afterOf(cursor: unknown): string | undefined {
  if (typeof cursor !== "string") return undefined;
  const after = /^id:(.+)$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  return after !== undefined && clusterIdProblems(after).length === 0 ? after : undefined;
}
