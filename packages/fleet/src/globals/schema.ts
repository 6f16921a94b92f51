// What is sent to the routes of global resources, and what they answer, as schemas for the document of the API.

import { Type } from "typebox";
import {
  changeMembers,
  revisionMembers,
  triedMembers,
  wantedMembers,
} from "../resources/schema.ts";
import {
  ClusterId,
  Count,
  Deleted,
  dryRunQuery,
  exactly,
  Generation,
  historyQuery,
  Id,
  ifMatchHeader,
  Kind,
  Labels,
  Name,
  Namespace,
  orNull,
  orphanQuery,
  pageQuery,
  policyMembers,
  refusalMembers,
  Revision,
  Spec,
  Status,
  Time,
  Warnings,
  words,
} from "../schema-parts.ts";
import { copyOutcomes } from "./planned-copies.ts";

const Selector = orNull(
  exactly({
    matchLabels: Type.Optional(Labels),
    matchExpressions: Type.Optional(
      Type.Array(
        exactly({
          key: Type.String(),
          operator: words(["In", "NotIn", "Exists", "DoesNotExist"]),
          values: Type.Optional(Type.Array(Type.String())),
        }),
      ),
    ),
  }),
  "which targets it is for, by their labels; null: all",
);

const NewGlobal = exactly({ ...wantedMembers, selector: Type.Optional(Selector) });
const GlobalChange = exactly({
  ...changeMembers,
  namespace: Type.Optional(Namespace),
  kind: Type.Optional(Kind),
  name: Type.Optional(Name),
  selector: Type.Optional(Selector),
});

const GlobalStatus = words(["deleting", "error", "synced", "pending"]);
const keyMembers = { namespace: Type.String(), kind: Kind, name: Name };
const numbers = { generation: Generation, revision: Revision };

const Created = exactly({
  id: Id,
  ...keyMembers,
  ...numbers,
  status: GlobalStatus,
  total_clusters: Count,
  warnings: Warnings,
});

const Global = exactly({
  id: Id,
  ...keyMembers,
  api_version: Type.String(),
  desired_spec: Spec,
  ...numbers,
  status: GlobalStatus,
  selector: Selector,
  ...policyMembers,
  created_at: Time,
  total_clusters: Count,
  synced_clusters: Count,
  cluster_statuses: Type.Array(
    exactly({
      cluster_id: ClusterId,
      resource_id: orNull(Id),
      synced_generation: orNull(Generation),
      is_synced: Type.Boolean(),
      status: Type.Union([Status, Type.Literal("conflict")]),
    }),
  ),
});

const GlobalList = exactly({
  global_resources: Type.Array(
    exactly({
      id: Id,
      ...keyMembers,
      api_version: Type.String(),
      ...numbers,
      status: GlobalStatus,
      paused: Type.Boolean(),
      created_at: Time,
      total_clusters: Count,
      synced_clusters: Count,
    }),
  ),
  total: Count,
  next: orNull(Type.String(), "the cursor of the next page"),
});

const Revisions = exactly({
  revisions: Type.Array(exactly({ global_id: Id, ...revisionMembers })),
  next: orNull(Generation, "the before of the next page"),
});

const ofCopy = { cluster_id: ClusterId, outcome: words(copyOutcomes) };
const Tried = exactly(
  {
    dry_run: Type.Literal(true),
    results: Type.Array(
      Type.Union([
        exactly({ ...ofCopy, ...triedMembers }),
        exactly({ ...ofCopy, dry_run: Type.Literal(true), ...refusalMembers }),
      ]),
    ),
    warnings: Warnings,
  },
  "a result for each cluster",
);

export const globalDocs = {
  create: {
    summary: "declare an object for every cluster that a selector chooses",
    query: dryRunQuery,
    body: NewGlobal,
    success: { status: 201, body: Created },
    others: [{ status: 200, body: Tried }],
  },
  list: {
    summary: "list global resources, by id",
    query: { namespace: Type.String(), kind: Kind, name: Type.String(), ...pageQuery },
    success: { status: 200, body: GlobalList },
  },
  get: {
    summary: "show a global resource and how far it got in each cluster",
    success: { status: 200, body: Global },
  },
  replace: {
    summary: "replace what the body carries, in every copy too",
    query: dryRunQuery,
    headers: ifMatchHeader,
    body: GlobalChange,
    success: {
      status: 200,
      body: Type.Union([exactly({ id: Id, ...numbers, status: GlobalStatus }), Tried]),
    },
  },
  delete: {
    summary: "delete a global resource and its copies",
    query: { ...orphanQuery, ...dryRunQuery },
    headers: ifMatchHeader,
    success: { status: 202, body: Deleted },
    others: [{ status: 200, body: Tried }],
  },
  revisions: {
    summary: "show what a global resource was, newest first",
    query: historyQuery,
    success: { status: 200, body: Revisions },
  },
};
