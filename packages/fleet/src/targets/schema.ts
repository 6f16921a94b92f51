// What is sent to the routes of targets, and what they answer, as schemas for the document of the API.

import { Type } from "typebox";
import { copyOutcomes } from "../globals/planned-copies.ts";
import { triedMembers } from "../resources/schema.ts";
import {
  ApiVersion,
  ClusterId,
  dryRunQuery,
  exactly,
  Id,
  Kind,
  Labels,
  Name,
  Namespace,
  orNull,
  orphanQuery,
  pageQuery,
  refusalMembers,
  Time,
  words,
} from "../schema-parts.ts";

const sentMembers = {
  kubeconfig: Type.Optional(
    Type.Union([Type.String(), Type.Object({})], {
      description: "as a text or an object; without programs to run and files to read",
    }),
  ),
  context: Type.Optional(Type.String({ description: "of the kubeconfig; else its current one" })),
  agent: Type.Optional(
    Type.Boolean({
      description: "a worker inside the cluster serves it, and no kubeconfig is kept",
    }),
  ),
  labels: Type.Optional(Labels),
  paused: Type.Optional(Type.Boolean({ description: "watched, and nothing is written to it" })),
};
const NewTarget = exactly({ cluster_id: ClusterId, ...sentMembers });
const TargetChange = exactly({ cluster_id: Type.Optional(ClusterId), ...sentMembers });

const Target = exactly({
  cluster_id: ClusterId,
  server: orNull(Type.String()),
  labels: Labels,
  paused: Type.Boolean(),
  health: words(["Unknown", "Healthy", "Degraded", "Unreachable"]),
  health_message: orNull(Type.String()),
  last_contact_at: orNull(Time),
  agent: Type.Boolean(),
  deleting: Type.Boolean(),
});

const Leaving = exactly({
  cluster_id: ClusterId,
  status: Type.Literal("deleting"),
  message: Type.String(),
});

const ofCopy = {
  global_id: Id,
  namespace: Namespace,
  kind: Kind,
  name: Name,
  api_version: ApiVersion,
  outcome: words(copyOutcomes),
};
const Tried = exactly({
  ...triedMembers,
  result: orNull(Target, "the target as it would be; null: there would be none"),
  copies: Type.Array(
    Type.Union([
      exactly({ ...ofCopy, ...triedMembers }),
      exactly({ ...ofCopy, dry_run: Type.Literal(true), ...refusalMembers }),
    ]),
    { description: "the copies of global resources that would come, change or go" },
  ),
});
const triedToo = { status: 200, body: Tried };

export const targetDocs = {
  create: {
    summary: "register a cluster",
    query: dryRunQuery,
    body: NewTarget,
    success: { status: 201, body: Target },
    others: [triedToo],
  },
  list: {
    summary: "list the clusters that are registered, by id",
    query: pageQuery,
    success: {
      status: 200,
      body: exactly({
        targets: Type.Array(Target),
        next: orNull(Type.String(), "the cursor of the next page"),
      }),
    },
  },
  get: { summary: "show a cluster", success: { status: 200, body: Target } },
  replace: {
    summary:
      "change how a cluster is reached, its labels, or whether it is paused; one that is being deleted keeps its labels",
    query: dryRunQuery,
    body: TargetChange,
    success: { status: 200, body: Type.Union([Target, Tried]) },
  },
  delete: {
    summary:
      "let go of a cluster; copies of global resources in it are deleted first, and it goes after the last resource in it",
    query: { ...orphanQuery, ...dryRunQuery },
    success: { status: 204 },
    others: [{ status: 202, body: Leaving }, triedToo],
  },
};
