// What the routes of resources tell of themselves.

import { Type } from "typebox";
import {
  ClusterId,
  Deleted,
  dryRunQuery,
  historyQuery,
  ifMatchHeader,
  Kind,
  orphanQuery,
  pageQuery,
  Status,
} from "../schema-parts.ts";
import * as schemas from "./schema.ts";

const triedToo = { status: 200, body: schemas.Tried };

export const resourceDocs = {
  create: {
    summary: "declare an object for a cluster",
    query: dryRunQuery,
    body: schemas.NewResource,
    success: { status: 201, body: schemas.Created },
    others: [triedToo],
  },
  upsert: {
    summary: "declare an object for a cluster, or replace the one of its key",
    query: dryRunQuery,
    headers: ifMatchHeader,
    body: schemas.NewResource,
    success: { status: 200, body: Type.Union([schemas.Written, schemas.Tried]) },
    others: [{ status: 201, body: schemas.Created }],
  },
  list: {
    summary: "list resources, by id",
    query: {
      cluster_id: ClusterId,
      namespace: Type.String(),
      kind: Kind,
      name: Type.String(),
      status: Status,
      label: Type.String({ description: "key=value of desired_spec.metadata.labels" }),
      ...pageQuery,
    },
    success: { status: 200, body: schemas.ResourceList },
  },
  get: {
    summary: "show a resource: what is wanted, what was applied, what the cluster says",
    success: { status: 200, body: schemas.Resource },
  },
  replace: {
    summary: "replace what the body carries, or bring back what was",
    query: dryRunQuery,
    headers: ifMatchHeader,
    body: schemas.ResourceChange,
    success: { status: 200, body: Type.Union([schemas.Written, schemas.Tried]) },
  },
  delete: {
    summary: "delete a resource and its object",
    query: { ...orphanQuery, ...dryRunQuery },
    headers: ifMatchHeader,
    success: { status: 202, body: Deleted },
    others: [triedToo],
  },
  batch: {
    summary: "make many changes, all or none",
    query: dryRunQuery,
    body: schemas.Batch,
    success: { status: 200, body: Type.Union([schemas.BatchDone, schemas.BatchTried]) },
  },
  revisions: {
    summary: "show what a resource was, newest first",
    query: historyQuery,
    success: { status: 200, body: schemas.Revisions },
  },
  diff: {
    summary: "show where desired, applied and current differ",
    success: { status: 200, body: schemas.Diff },
  },
  sync: {
    summary: "apply now, whatever failed before",
    query: dryRunQuery,
    success: { status: 202, body: schemas.SyncAsked },
    others: [triedToo],
  },
  pause: {
    summary: "write nothing to the cluster until it is resumed",
    query: dryRunQuery,
    success: { status: 200, body: Type.Union([schemas.PauseSet, schemas.Tried]) },
  },
  resume: {
    summary: "go on writing to the cluster",
    query: dryRunQuery,
    success: { status: 200, body: Type.Union([schemas.PauseSet, schemas.Tried]) },
  },
};
