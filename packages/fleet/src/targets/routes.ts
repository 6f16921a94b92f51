// The routes of targets.

import { RestError, validationFailed, type Json } from "@keelson/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { limitOf, type Query } from "../resources/list-query.ts";
import { clusterIdProblems } from "../resources/resource-body.ts";
import type { Sender } from "../sender.ts";
import { flagOf } from "../write-queries.ts";
import { targetDocs as docs } from "./schema.ts";
import type { TargetDryRuns } from "./target-dry-runs.ts";
import type { TargetPage, Targets } from "./targets.ts";

export interface TargetRoutesOptions {
  readonly targets: Targets;
  readonly targetDryRuns: TargetDryRuns;
  readonly senderOf: (request: FastifyRequest) => Sender;
}

/** Puts them on `app`, below the prefix of the API. */
export function addTargetRoutes(
  app: FastifyInstance,
  { targets, targetDryRuns, senderOf }: TargetRoutesOptions,
): void {
  const told = <Doc>(doc: Doc) => ({ config: { doc } });
  const triable = <Doc>(doc: Doc) => ({ config: { doc, isTriable: true } });
  /** Those that try the write instead of making it, if that is asked for. */
  const trying = (request: FastifyRequest): TargetDryRuns | undefined =>
    flagOf(request, "dryRun") ? targetDryRuns : undefined;

  app.post("/targets", triable(docs.create), async (request, reply) => {
    const [sender, body] = [senderOf(request), request.body as Json | undefined];
    const trial = trying(request);
    if (trial !== undefined) return trial.create(sender, body, request.signal);
    return reply.code(201).send(await targets.create(sender, body, request.signal));
  });

  app.get("/targets", told(docs.list), async (request) =>
    targets.list(senderOf(request), pageOf(request.query as Query), request.signal),
  );

  app.get("/targets/:cluster_id", told(docs.get), async (request) =>
    targets.get(senderOf(request), clusterIdOf(request), request.signal),
  );

  app.put("/targets/:cluster_id", triable(docs.replace), async (request) => {
    const [sender, body] = [senderOf(request), request.body as Json | undefined];
    const clusterId = clusterIdOf(request);
    return (trying(request) ?? targets).replace(sender, clusterId, body, request.signal);
  });

  app.delete("/targets/:cluster_id", triable(docs.delete), async (request, reply) => {
    const clusterId = clusterIdOf(request);
    const at = { clusterId, isOrphaning: flagOf(request, "orphan") };
    const trial = trying(request);
    if (trial !== undefined) return trial.delete(senderOf(request), at, request.signal);
    const end = await targets.delete(senderOf(request), at, request.signal);
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
