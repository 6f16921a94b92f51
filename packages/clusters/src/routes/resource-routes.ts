// The routes of clusters and nodepools. Handlers hold no rules: they read the address, call, and answer.

import type { JsonObject } from "@keelson/base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { requireController } from "../access/access.ts";
import { kinds, type Kind } from "../kinds.ts";
import {
  readDeleteQuery,
  readGetQuery,
  readListQuery,
  type Query,
} from "../resources/list-query.ts";
import { expectedGeneration, ifMatchOf } from "../resources/preconditions.ts";
import type { Shown } from "../resources/read-resources.ts";
import { readUuid } from "../resources/uuid.ts";
import { ClusterUpdate, NewCluster, NewNodepool, NodepoolUpdate, StatusReport } from "../schema.ts";
import * as answers from "./answers.ts";
import type { RouteParts } from "./route-parts.ts";

/** Puts them on `app`, below the prefix of the API. */
export function addResourceRoutes(app: FastifyInstance, parts: RouteParts): void {
  const { writer, callerOf } = parts;

  const clusterMade = { status: 201, body: answers.Resource(kinds.cluster) };
  const declares = { config: { doc: { summary: "declare a cluster", success: clusterMade } } };
  app.post("/clusters", { ...declares, schema: { body: NewCluster } }, async (request, reply) => {
    const body = request.body as NewCluster;
    const made = await writer.createCluster(callerOf(request), body, request.signal);
    return shown(reply.code(201), made);
  });
  addRoutesOfKind(app, kinds.cluster, parts);

  const nodepoolMade = { status: 201, body: answers.Resource(kinds.nodepool) };
  const adds = { config: { doc: { summary: "add a nodepool", success: nodepoolMade } } };
  app.post("/nodepools", { ...adds, schema: { body: NewNodepool } }, async (request, reply) => {
    const body = request.body as NewNodepool;
    const made = await writer.createNodepool(callerOf(request), body, request.signal);
    return shown(reply.code(201), made);
  });
  addRoutesOfKind(app, kinds.nodepool, parts);
}

function addRoutesOfKind(app: FastifyInstance, kind: Kind, parts: RouteParts): void {
  const { reader, writer, deletions, reports, callerOf } = parts;
  const path = `/${kind.plural}`;
  const docs = docsOf(kind);

  app.get(path, docs.list, async (request) => {
    const asked = readListQuery(kind, request.query as Query);
    return reader.list(callerOf(request), { kind, asked }, request.signal);
  });

  app.get(`${path}/:id`, docs.get, async (request, reply) => {
    const asked = { kind, id: idOf(request), ...readGetQuery(request.query as Query) };
    return shown(reply, await reader.get(callerOf(request), asked, request.signal));
  });

  const Update = kind.name === "cluster" ? ClusterUpdate : NodepoolUpdate;
  app.put(`${path}/:id`, { ...docs.update, schema: { body: Update } }, async (request, reply) => {
    const body = request.body as NodepoolUpdate;
    const change = {
      kind,
      id: idOf(request),
      ...(body.name === undefined ? {} : { name: body.name }),
      spec: body.spec as JsonObject,
      targetProjectId: body.target_project_id,
      expectedGeneration: expectedGeneration(body),
      ifMatch: ifMatchOf(request.headers["if-match"]),
    };
    return shown(reply, await writer.update(callerOf(request), change, request.signal));
  });

  app.delete(`${path}/:id`, docs.delete, async (request, reply) => {
    const asked = {
      kind,
      id: idOf(request),
      ifMatch: ifMatchOf(request.headers["if-match"]),
      ...readDeleteQuery(request.query as Query),
    };
    return reply.code(202).send(await deletions.delete(callerOf(request), asked, request.signal));
  });

  app.get(`${path}/:id/status`, docs.status, async (request) => {
    const { includeDeleted } = readGetQuery(request.query as Query);
    const at = { kind, id: idOf(request), includeDeleted };
    return reader.status(callerOf(request), at, request.signal);
  });

  // Whoever may not report learns that before anybody reads what they sent.
  const onRequest = async (request: FastifyRequest): Promise<void> =>
    requireController(callerOf(request));
  app.put(
    `${path}/:id/status`,
    { ...docs.report, onRequest, schema: { body: StatusReport } },
    async (request) => {
      const body = request.body as StatusReport;
      return reports.report(callerOf(request), { kind, id: idOf(request) }, body, request.signal);
    },
  );

  app.post(`${path}/:id/reconcile`, docs.reconcile, async (request, reply) => {
    const at = { kind, id: idOf(request) };
    return reply.code(202).send(await writer.reconcile(callerOf(request), at, request.signal));
  });

  for (const [verb, enabled] of [
    ["pause", false],
    ["resume", true],
  ] as const) {
    app.post(`${path}/:id/${verb}`, docs[verb], async (request) => {
      const at = { kind, id: idOf(request), enabled };
      return writer.setEnabled(callerOf(request), at, request.signal);
    });
  }
}

/** What the routes of a kind tell of themselves. */
function docsOf(kind: Kind) {
  const { name } = kind;
  const doc = (
    summary: string,
    status: number,
    body: object,
    more: {
      readonly query?: Readonly<Record<string, object>>;
      readonly headers?: Readonly<Record<string, object>>;
    } = {},
  ) => ({ config: { doc: { summary, success: { status, body }, ...more } } });
  const headers = answers.ifMatchHeader;
  const resource = answers.Resource(kind);
  const scheduled = answers.Scheduled(kind);
  return {
    list: doc(`list ${kind.plural}, newest first`, 200, answers.ResourceList(kind), {
      query: answers.listQuery(kind),
    }),
    get: doc(`show a ${name}`, 200, resource, { query: answers.getQuery }),
    update: doc(`replace the spec of a ${name}`, 200, resource, { headers }),
    delete: doc(`delete a ${name}`, 202, answers.Deleted(kind), {
      query: answers.deleteQuery(kind),
      headers,
    }),
    status: doc(
      `show the status of a ${name} and the reports behind it`,
      200,
      answers.ResourceStatus(kind),
      { query: answers.statusQuery },
    ),
    report: doc(`report on a ${name}, as a controller`, 200, answers.Reported(kind)),
    reconcile: doc(`announce a ${name} now`, 202, answers.Reconciled(kind)),
    pause: doc(
      `stop announcing a ${name} by schedule, until it is resumed or deleted`,
      200,
      scheduled,
    ),
    resume: doc(`announce a ${name} by schedule again`, 200, scheduled),
  };
}

function idOf(request: FastifyRequest): string {
  return readUuid((request.params as { readonly id: string }).id);
}

function shown(reply: FastifyReply, { body, resourceVersion }: Shown): FastifyReply {
  return reply.header("etag", `"${resourceVersion}"`).send(body);
}
